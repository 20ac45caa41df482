// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as the value of Inference-Header-Content-Length. An accepted value
// must be a length possible for the body.
#include <cstdlib>
#include <string>

#include "frontends/codec/length_headers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const size_t body_size : {size_t{0}, size_t{10}, size_t{1} << 40}) {
    const absl::StatusOr<size_t> length = nereid::ParseInferenceHeaderLength(text, body_size);
    if (length.ok() && *length > body_size) std::abort();
  }
  return 0;
}
