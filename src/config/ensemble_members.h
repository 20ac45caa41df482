// SPDX-License-Identifier: Apache-2.0
// Checks whether an ensemble fits the models of its steps. Pure.
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

// INVALID_ARGUMENT, naming every problem: tensors that the members lack or that are connected to
// nothing, types and shapes that differ between steps, batches too large for a member, a step (or
// the outputs) that takes responses of two decoupled models, and a response cache over a member
// that keeps state. `members`: one per step. REQUIRES: the
// configuration of the ensemble passed its own checks (CheckEnsemble).
absl::Status CheckEnsembleMembers(const CompiledModel& ensemble,
                                  absl::Span<const CompiledModel* const> members);
// The same problems as a list.
Diagnostics FindMemberProblems(const CompiledModel& ensemble,
                               absl::Span<const CompiledModel* const> members);

// For each step: the decoupled step, counted from 1, whose responses feed its inputs; 0: none.
// Returns the error of CheckEnsembleMembers if there are two. `decoupled`: which steps are
// decoupled.
absl::StatusOr<std::vector<uint32_t>> DecoupledOrigins(const CompiledModel& ensemble,
                                                       const std::vector<bool>& decoupled);

}  // namespace nereid

#endif  // NEREID_CONFIG_ENSEMBLE_MEMBERS_H_
