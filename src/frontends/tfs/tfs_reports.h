// SPDX-License-Identifier: Apache-2.0
// What TensorFlow Serving's API tells of models, as JSON. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_TFS_TFS_REPORTS_H_
#define NEREID_FRONTENDS_TFS_TFS_REPORTS_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/compiled_model.h"
#include "server/reports.h"

namespace nereid {

// The states of the versions of `model` in `index`, the highest version first, or of one `version`.
// NOT_FOUND if there are none.
absl::StatusOr<std::string> TfsStatusJson(const std::vector<IndexEntry>& index,
                                          absl::string_view model, std::optional<int64_t> version);

// The signatures of a model.
std::string TfsMetadataJson(const CompiledModel& model);

// NOT_FOUND for a model that is not there; without a version, the latest was wanted.
absl::Status TfsNotFound(absl::string_view model, std::optional<int64_t> version);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TFS_TFS_REPORTS_H_
