// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as a value that another program has put into Redis. Framing the result must give
// the same value again.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "caches/redis/frames.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy with nothing after it, so that the sanitizer detects reads beyond its end.
  const std::string value(reinterpret_cast<const char*>(data), size);
  const auto buffers = nereid_cache::ReadFrames(value);
  if (!buffers.has_value()) return 0;
  std::vector<size_t> sizes;
  for (const std::string_view buffer : *buffers) sizes.push_back(buffer.size());
  nereid_cache::FramedValue framed;
  nereid_cache::MakeFrames(sizes, &framed);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 0) std::memcpy(framed.buffers[i], (*buffers)[i].data(), sizes[i]);
  }
  if (framed.value != value) std::abort();
  return 0;
}
