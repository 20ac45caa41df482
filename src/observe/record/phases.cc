// SPDX-License-Identifier: Apache-2.0
#include "observe/record/phases.h"

#include <algorithm>
#include <utility>

namespace nereid {

const char* NameOf(Phase phase) {
  static constexpr std::array<const char*, kPhases> kNames = {
      "admission",     "cache",         "sequence_slot", "queue",          "rate_limit", "dispatch",
      "compute_input", "compute_infer", "steps",         "compute_output", "sending"};
  return kNames[static_cast<size_t>(phase)];
}

uint64_t LatencyOf(const FlightRecord& record) {
  return record.sent > record.request_start ? record.sent - record.request_start : 0;
}

Phases PhasesOf(const FlightRecord& r) {
  const bool is_ensemble = r.ensemble != 0;
  const bool reported = r.compute_start != 0 || r.compute_end != 0;
  // Where something did not happen, the phase before goes on until the answer.
  const uint64_t admitted = r.queue_start != 0 ? r.queue_start : r.answered;
  const bool hit = r.outcome == FlightOutcome::kCacheHit;
  const uint64_t pulled = r.pulled != 0 || is_ensemble || hit ? r.pulled : r.answered;
  const uint64_t computed = reported ? r.compute_end : r.exec_start != 0 ? r.answered : 0;
  // The end of each phase. 0: the phase is empty.
  const std::pair<Phase, uint64_t> ends[] = {{Phase::kAdmission, admitted},
                                             {Phase::kCache, r.looked_up},
                                             {Phase::kSequenceSlot, r.slot},
                                             {Phase::kQueue, r.staged != 0 ? r.staged : pulled},
                                             {Phase::kRateLimit, pulled},
                                             {Phase::kDispatch, r.exec_start},
                                             {Phase::kComputeInput, r.compute_start},
                                             {Phase::kComputeInfer, computed},
                                             {Phase::kSteps, is_ensemble ? r.answered : 0},
                                             {Phase::kComputeOutput, r.answered},
                                             {Phase::kSending, r.sent}};
  Phases phases;
  uint64_t reached = r.request_start;
  const uint64_t last = r.request_start + LatencyOf(r);
  for (const auto& [phase, end] : ends) {
    const uint64_t until = std::clamp(end, reached, last);
    phases.ns[static_cast<size_t>(phase)] = until - reached;
    reached = until;
  }
  return phases;
}

}  // namespace nereid
