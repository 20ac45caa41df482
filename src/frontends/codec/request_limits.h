// SPDX-License-Identifier: Apache-2.0
// RequestLimits: limits on the size, depth and number of what a client sends, and on how much of
// its responses may wait for it. A plain value.
//
// The constants apply to every protocol. Each is far above what a well-behaved client sends, and
// keeps a hostile client from making the server spend far more than the message cost to send.
#ifndef NEREID_FRONTENDS_CODEC_REQUEST_LIMITS_H_
#define NEREID_FRONTENDS_CODEC_REQUEST_LIMITS_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nereid {

// Bytes of the name of a model, a tensor or a parameter, and of the id of a request.
inline constexpr size_t kMaxNameBytes = 1024;
// Parameters of a request, of an input and of an output.
inline constexpr size_t kMaxParameters = 1024;
// Bytes of a string parameter.
inline constexpr size_t kMaxParameterBytes = 1 << 20;
// Dimensions of a tensor.
inline constexpr size_t kMaxDimensions = 128;
// Number of inputs kept of a request that has too many, so that the error can name them.
inline constexpr size_t kKeptTensors = 16;

// Bytes of one response stream that may wait for its client unless the server is configured
// otherwise; beyond this, the request has no credit for more.
inline constexpr uint64_t kMaxWaitingStreamBytes = 16 << 20;

// Bytes of the body or message of a request for administration, except for loads, which carry
// files, unless the server is configured otherwise; and the option that does so.
inline constexpr uint64_t kMaxAdminBodyBytes = 1 << 20;
inline constexpr char kMaxAdminBodyOption[] = "--max-admin-body-bytes";

struct RequestLimits {
  // Bytes of the JSON part, of each tensor sent as JSON, of a raw and of a decompressed body.
  uint64_t max_input_size = 64 << 20;
  // Levels of arrays inside one `data`.
  int max_json_depth = 100;
};

// How many inputs (outputs) of a request are kept for a model that has `of_model` of them: one more
// than is valid, so that the mistake can be detected. The others are read and dropped.
inline size_t KeptTensors(size_t of_model) { return std::max(of_model + 1, kKeptTensors); }

// INVALID_ARGUMENT if `text` is longer than `limit`; `what` describes it: "name of an input".
absl::Status CheckLength(absl::string_view what, absl::string_view text,
                         size_t limit = kMaxNameBytes);
// INVALID_ARGUMENT if there are too many; `owner` says to what they belong: "the request".
absl::Status CheckParameterCount(absl::string_view owner, size_t count);
absl::Status CheckDimensionCount(absl::string_view tensor, size_t count);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_REQUEST_LIMITS_H_
