// SPDX-License-Identifier: Apache-2.0
#include "backends/python/worker/stream_copy.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace nereid_python::worker {
namespace {

#if defined(__x86_64__)
constexpr uint64_t kLine = 64;

// REQUIRES: `to` is at the beginning of a line of the cache, and `lines` of them do not overlap
// with what is at `from`.
void StreamLines(char* to, const char* from, uint64_t lines) {
  for (uint64_t i = 0; i < lines; ++i, to += kLine, from += kLine) {
    const auto* const in = reinterpret_cast<const __m128i*>(from);
    auto* const out = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(in);
    const __m128i b = _mm_loadu_si128(in + 1);
    const __m128i c = _mm_loadu_si128(in + 2);
    const __m128i d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
  _mm_sfence();  // before anybody is told that the bytes are there
}
#endif

}  // namespace

void StreamCopy(char* to, const char* from, uint64_t size) {
#if defined(__x86_64__)
  if (to + size <= from || from + size <= to) {
    const uint64_t head = std::min(size, -reinterpret_cast<uintptr_t>(to) % kLine);
    std::memcpy(to, from, head);
    const uint64_t lines = (size - head) / kLine;
    StreamLines(to + head, from + head, lines);
    const uint64_t done = head + lines * kLine;
    std::memcpy(to + done, from + done, size - done);
    return;
  }
#endif
  std::memmove(to, from, size);
}

// sysconf is wrong by the number of processors on some.
uint64_t BytesUntilCold() {
  static const uint64_t bytes = [] {
    uint64_t kib = 0;
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");  // "32768K"
    if (!(file >> kib) || kib == 0) kib = uint64_t{32} << 10;
    return kib * 1024 / 2;
  }();
  return bytes;
}

}  // namespace nereid_python::worker
