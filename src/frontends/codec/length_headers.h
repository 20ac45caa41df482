// SPDX-License-Identifier: Apache-2.0
// The HTTP header that gives the length of the JSON part of a v2 request. A pure function,
// thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_LENGTH_HEADERS_H_
#define NEREID_FRONTENDS_CODEC_LENGTH_HEADERS_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstddef>

namespace nereid {

// The value of Inference-Header-Content-Length for a body of `body_size` bytes (decompressed).
// INVALID_ARGUMENT if it is not a number, exceeds an int64, is negative or exceeds the body.
absl::StatusOr<size_t> ParseInferenceHeaderLength(absl::string_view value, size_t body_size);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_LENGTH_HEADERS_H_
