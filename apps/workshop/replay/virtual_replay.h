// SPDX-License-Identifier: Apache-2.0
// A recorded model in virtual time: its arrivals and execution times run through the real
// scheduler, and the batches are compared with the recorded ones. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_REPLAY_VIRTUAL_REPLAY_H_
#define NEREID_APPS_WORKSHOP_REPLAY_VIRTUAL_REPLAY_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <vector>

#include "frontends/codec/recording.h"
#include "replay/recorded_machine.h"
#include "simulation/simulate.h"
#include "simulation/workload.h"

namespace nereid {

// The model `wanted`, NAME or NAME:VERSION; the one with the most requests if it is empty or
// several fit. INVALID_ARGUMENT if it was not recorded. `recording` outlives what is returned.
absl::StatusOr<const RecordedModel*> ChooseRecorded(const Recording& recording,
                                                    const std::string& wanted);

struct VirtualReplay {
  std::vector<const RecordedRequest*> requests;  // by number, in the order of their arrivals
  std::vector<SimulatedRequest> load;            // the same
  SimulationResult result;
  SimulationSummary summary;
  SimulationSummary recorded;  // of the same requests

  size_t left_out_requests = 0;     // cancelled, or answered from the cache
  size_t incomplete_batches = 0;    // whose requests are not all recorded: not compared
  size_t rate_limited_batches = 0;  // recorded ones that waited for the rate limiter, which is off
  size_t strategy_batches = 0;      // that the model's own batching closed, which is not asked
  size_t compared = 0;
  size_t reproduced = 0;         // batches with the same members
  std::string first_difference;  // in words; empty: there is none
};

// `model` outlives what is returned. INVALID_ARGUMENT: it cannot be simulated, or nothing was
// recorded of it. `wakes`: as recorded for the recorded configuration; with another one, batches
// are due at other times.
absl::StatusOr<VirtualReplay> ReplayVirtually(const RecordedModel& model,
                                              const CompiledModel& config,
                                              Wakes wakes = Wakes::kAsRecorded);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_REPLAY_VIRTUAL_REPLAY_H_
