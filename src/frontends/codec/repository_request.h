// SPDX-License-Identifier: Apache-2.0
// Bodies of the model-repository requests. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_REPOSITORY_REQUEST_H_
#define NEREID_FRONTENDS_CODEC_REPOSITORY_REQUEST_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <vector>

#include "frontends/codec/parse_cost.h"
#include "repository/load_override.h"

namespace nereid {

// The `ready` member of an index request, which limits the list to ready models. False for an empty
// body or if it is missing. INVALID_ARGUMENT if the text is not a JSON object, if the value has
// another type, or if there is another member, as in all of these.
absl::StatusOr<bool> ReadIndexRequest(absl::string_view body, const ParseBudget& budget);

// The `parameters` of a load request: "config" unchanged, "file:<path>" decoded from base64. Empty
// for an empty body or if they are missing. INVALID_ARGUMENT for anything else.
absl::StatusOr<std::vector<LoadParameter>> ReadLoadRequest(absl::string_view body,
                                                           const ParseBudget& budget);

// The parameter `unload_dependents` of an unload request; false for an empty body or if it is
// missing. INVALID_ARGUMENT if the value has another type.
absl::StatusOr<bool> ReadUnloadRequest(absl::string_view body, const ParseBudget& budget);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_REPOSITORY_REQUEST_H_
