// Whether an ensemble fits the models of its steps. Pure.
#ifndef NEREID_CONFIG_ENSEMBLE_MEMBERS_H_
#define NEREID_CONFIG_ENSEMBLE_MEMBERS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/types/span.h>

#include <cstdint>
#include <vector>

#include "config/compiled_model.h"
#include "config/diagnostics.h"

namespace nereid {

// INVALID_ARGUMENT, naming every problem: tensors that the members do not have or that nobody
// connects, types and shapes that differ from step to step, batches too large for a member,
// answers of two decoupled models in one step. `members`: one for each step.
// REQUIRES: the configuration of the ensemble passed its own checks (CheckEnsemble).
absl::Status CheckEnsembleMembers(const CompiledModel& ensemble,
                                  absl::Span<const CompiledModel* const> members);
// The same as a list.
Diagnostics FindMemberProblems(const CompiledModel& ensemble,
                               absl::Span<const CompiledModel* const> members);

// For each step the decoupled step, counted from 1, whose answers its inputs come from; 0: none.
// The error of CheckEnsembleMembers where there are two. `decoupled`: which steps are.
absl::StatusOr<std::vector<uint32_t>> DecoupledOrigins(const CompiledModel& ensemble,
                                                       const std::vector<bool>& decoupled);

}  // namespace nereid

#endif  // NEREID_CONFIG_ENSEMBLE_MEMBERS_H_
