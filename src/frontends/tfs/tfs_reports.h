// SPDX-License-Identifier: Apache-2.0
// What TensorFlow Serving's API tells of models. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_TFS_TFS_REPORTS_H_
#define NEREID_FRONTENDS_TFS_TFS_REPORTS_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/compiled_model.h"
#include "model/data_type.h"
#include "model/shape.h"
#include "server/reports.h"

namespace nereid {

// The states of TfsVersions as JSON.
absl::StatusOr<std::string> TfsStatusJson(const std::vector<IndexEntry>& index,
                                          absl::string_view model, std::optional<int64_t> version);

// The signatures of a model as JSON.
std::string TfsMetadataJson(const CompiledModel& model);

// NOT_FOUND for a model that is not there; without a version, the latest was wanted.
absl::Status TfsNotFound(absl::string_view model, std::optional<int64_t> version);

// ---- What they are made of.

// The versions of `model` in `index`, the highest first, or one `version`. NOT_FOUND if there are
// none.
absl::StatusOr<std::vector<const IndexEntry*>> TfsVersions(const std::vector<IndexEntry>& index,
                                                           absl::string_view model,
                                                           std::optional<int64_t> version);
// "AVAILABLE", "END" and so on. Lives as long as `entry`.
const char* TfsStateName(const IndexEntry& entry);
// Why a version does not serve; empty if that is no error.
absl::string_view TfsStateError(const IndexEntry& entry);
// "DT_FLOAT" and so on. Lives as long as the program.
const char* TfsTypeName(DataType type);
// The shape of a tensor as clients of this API see it; -1: any.
Shape TfsShape(const InputSpec& spec, const CompiledModel& model);
Shape TfsShape(const OutputSpec& spec, const CompiledModel& model);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TFS_TFS_REPORTS_H_
