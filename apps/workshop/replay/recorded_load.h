// SPDX-License-Identifier: Apache-2.0
// The load of a recording as an option, --recording=FILE. Functions; reading blocks on file I/O.
#ifndef NEREID_APPS_WORKSHOP_REPLAY_RECORDED_LOAD_H_
#define NEREID_APPS_WORKSHOP_REPLAY_RECORDED_LOAD_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "bench/load_plan.h"
#include "simulation/workload.h"

namespace nereid {

// The requests of `model`, NAME or NAME:VERSION, in the order of their arrivals, with their inputs
// where these are wanted and were recorded. INVALID_ARGUMENT names the option and the file.
absl::StatusOr<std::vector<bench::PlannedRequest>> ReadRecordedLoad(const std::string& file,
                                                                    const std::string& model,
                                                                    bool with_inputs);
// The same for a simulation; the first arrives at 1 ns. Sequences are left out.
std::vector<SimulatedRequest> SimulatedLoad(const std::vector<bench::PlannedRequest>& planned);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_REPLAY_RECORDED_LOAD_H_
