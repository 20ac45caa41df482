// SPDX-License-Identifier: Apache-2.0
// What all simulations check and make first. Pure functions.
#ifndef NEREID_SIMULATION_PREPARATION_H_
#define NEREID_SIMULATION_PREPARATION_H_

#include <absl/status/status.h>

#include <functional>
#include <vector>

#include "base/timer.h"
#include "config/compiled_model.h"
#include "simulation/simulated_model.h"
#include "simulation/workload.h"

namespace nereid {

// INVALID_ARGUMENT: an ensemble, or a model without instances.
absl::Status CheckSimulated(const CompiledModel& config);
// INVALID_ARGUMENT: they are not in order, or do not begin at 1 ns or later.
absl::Status CheckArrivals(const std::vector<SimulatedRequest>& load);
// Without the response cache.
CompiledModel Uncached(CompiledModel config);
// Makes the scheduler that serves the real model. `timer` is asked when it is made.
SchedulerMaker RealScheduler(Clock* clock, std::function<Timer*()> timer);

}  // namespace nereid

#endif  // NEREID_SIMULATION_PREPARATION_H_
