// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as a compressed body, as the value of Content-Encoding and of Accept-Encoding.
// The first byte selects the coding and the output limit. The output with pauses must equal the
// output without.
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontends/codec/compression.h"

namespace {

// The whole output of `compressed`. Whenever more room is requested, the buffer is a new one, so
// that the bytes written so far have to be kept. It has no spare bytes.
absl::StatusOr<std::string> Plain(nereid::ContentCoding coding, absl::string_view compressed,
                                  uint64_t limit) {
  std::string plain;
  const absl::StatusOr<uint64_t> size =
      nereid::Decompress(coding, compressed, limit,
                         [&](uint64_t filled, uint64_t wish) -> absl::StatusOr<absl::Span<char>> {
                           if (wish <= filled) std::abort();
                           std::string place(plain, 0, filled);
                           place.resize(wish);
                           plain.swap(place);
                           return absl::MakeSpan(plain.data(), plain.size());
                         });
  if (!size.ok()) return size.status();
  plain.resize(*size);
  return plain;
}

// The same output, made with a pause after every `step` bytes.
absl::StatusOr<std::string> PlainInSteps(nereid::ContentCoding coding, absl::string_view compressed,
                                         uint64_t limit, uint64_t step) {
  std::string plain;
  const auto make_room = [&](uint64_t, uint64_t wish) -> absl::StatusOr<absl::Span<char>> {
    plain.resize(wish);
    return absl::MakeSpan(plain.data(), plain.size());
  };
  nereid::Decompressor decompressor(coding, compressed, limit);
  for (uint64_t pause_at = step;; pause_at += step) {
    const absl::StatusOr<bool> done = decompressor.Run(pause_at, make_room);
    if (!done.ok()) return done.status();
    if (decompressor.filled() > pause_at) std::abort();
    if (*done) break;
  }
  plain.resize(decompressor.filled());
  return plain;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nereid::ContentCoding;
  if (size == 0) return 0;
  const ContentCoding coding = (data[0] & 1) != 0 ? ContentCoding::kGzip : ContentCoding::kDeflate;
  const uint64_t limit = uint64_t{1} << (data[0] >> 1) % 20;
  // A copy with nothing after it, so that reading too far is detected.
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  nereid::ParseContentEncoding(bytes).IgnoreError();
  (void)nereid::ChooseContentCoding(bytes);

  const absl::StatusOr<std::string> plain = Plain(coding, bytes, limit);
  if (PlainInSteps(coding, bytes, limit, 1 + limit / 5) != plain) std::abort();
  if (!plain.ok()) return 0;
  if (plain->size() > limit) std::abort();
  const absl::StatusOr<std::string> again = nereid::Compress(coding, {*plain});
  if (!again.ok() || Plain(coding, *again, limit).value() != *plain) std::abort();
  return 0;
}
