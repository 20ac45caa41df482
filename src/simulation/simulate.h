// SPDX-License-Identifier: Apache-2.0
// Simulate: a load, a model's configuration and a machine; which batches leave the queue, and when
// each request is answered. The scheduler is the one that serves the real model; time is simulated,
// and one thread does everything, so the same input gives the same result. Stateless.
#ifndef NEREID_SIMULATION_SIMULATE_H_
#define NEREID_SIMULATION_SIMULATE_H_

#include <absl/status/statusor.h>

#include <vector>

#include "base/export.h"
#include "config/compiled_model.h"
#include "simulation/workload.h"

namespace nereid {

// `load`: by arrival; the number of a request is its place. The response cache and the rate limiter
// are off, and a model's own batching functions are not asked. INVALID_ARGUMENT: an ensemble, a
// model without instances, arrivals out of order, or inputs that are too large.
NEREID_API absl::StatusOr<SimulationResult> Simulate(const CompiledModel& config,
                                                     const std::vector<SimulatedRequest>& load,
                                                     MachineModel* machine);

// The same for a closed loop, which writes into `load` when each request has arrived. The first
// requests come at 1 ns. INVALID_ARGUMENT also for a loop without clients.
NEREID_API absl::StatusOr<SimulationResult> SimulateClosedLoop(const CompiledModel& config,
                                                               const ClosedLoop& clients,
                                                               std::vector<SimulatedRequest>* load,
                                                               MachineModel* machine);

}  // namespace nereid

#endif  // NEREID_SIMULATION_SIMULATE_H_
