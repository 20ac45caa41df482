// The two HTTP headers that say how long a v2 request is. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_LENGTH_HEADERS_H_
#define NEREID_FRONTENDS_CODEC_LENGTH_HEADERS_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>

namespace nereid {

// The value of Content-Length. INVALID_ARGUMENT when it is no number or beyond an int32.
absl::StatusOr<int32_t> ParseContentLength(absl::string_view value);

// The value of Inference-Header-Content-Length for a body of `body_size` bytes (decompressed).
// INVALID_ARGUMENT when it is no number, beyond an int32, negative or more than the body.
absl::StatusOr<size_t> ParseInferenceHeaderLength(absl::string_view value, size_t body_size);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_LENGTH_HEADERS_H_
