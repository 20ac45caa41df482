// SPDX-License-Identifier: Apache-2.0
// Which configurations are judged. Pure functions but for what they call.
#ifndef NEREID_APPS_WORKSHOP_TUNE_SEARCH_H_
#define NEREID_APPS_WORKSHOP_TUNE_SEARCH_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "tune/choice.h"

namespace nereid {

// Predicts how good a configuration is.
using Judge = std::function<absl::StatusOr<Judged>(const Configuration&)>;

// `candidates`: by model, today's first. All that were judged, today's configuration first, each
// once. These are all combinations if there is one model, or at most `most` combinations.
// Otherwise one model is improved after the other, first its instances, then its batches, until
// nothing becomes better: once from today's configuration, and once from as many instances of each
// model as there can be, because two models may be a bottleneck together. Errors of `judge`.
absl::StatusOr<std::vector<Judged>> JudgeConfigurations(
    const std::vector<std::vector<Candidate>>& candidates, const Goal& goal, size_t most,
    const Judge& judge);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_SEARCH_H_
