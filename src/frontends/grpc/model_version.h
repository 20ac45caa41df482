// SPDX-License-Identifier: Apache-2.0
// Model versions as text, the form used in gRPC requests. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_MODEL_VERSION_H_
#define NEREID_FRONTENDS_GRPC_MODEL_VERSION_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>

namespace nereid {

// kLatestVersion for "". INVALID_ARGUMENT for text that does not start with a 64-bit number
// (anything after the number is ignored, as clients expect) and for negative numbers.
absl::StatusOr<int64_t> ParseModelVersion(absl::string_view text);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_MODEL_VERSION_H_
