// Bodies of the model-repository requests. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_REPOSITORY_REQUEST_H_
#define NEREID_FRONTENDS_CODEC_REPOSITORY_REQUEST_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <vector>

#include "repository/load_override.h"

namespace nereid {

// The `ready` of an index request: list only what is ready. False for an empty body and where it
// is missing. INVALID_ARGUMENT for text that is no JSON object or another kind of value.
absl::StatusOr<bool> ReadIndexRequest(absl::string_view body);

// The `parameters` of a load request: "config" as it is, "file:<path>" decoded from base64. None
// for an empty body and where they are missing. INVALID_ARGUMENT for anything else.
absl::StatusOr<std::vector<LoadParameter>> ReadLoadRequest(absl::string_view body);

// The parameter `unload_dependents` of an unload request; false for an empty body and where it is
// missing. INVALID_ARGUMENT for another kind of value.
absl::StatusOr<bool> ReadUnloadRequest(absl::string_view body);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_REPOSITORY_REQUEST_H_
