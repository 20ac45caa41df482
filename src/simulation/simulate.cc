// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulate.h"

#include "base/status_macros.h"
#include "simulation/event_loop.h"
#include "simulation/preparation.h"

namespace nereid {
namespace {

absl::StatusOr<SimulationResult> Run(EventLoop* loop) {
  return loop->Run(RealScheduler(loop->clock(), [loop] { return loop->timer(); }));
}

}  // namespace

absl::StatusOr<SimulationResult> Simulate(const CompiledModel& config,
                                          const std::vector<SimulatedRequest>& load,
                                          MachineModel* machine) {
  RETURN_IF_ERROR(CheckSimulated(config));
  RETURN_IF_ERROR(CheckArrivals(load));
  const CompiledModel uncached = Uncached(config);
  EventLoop loop(uncached, load, machine);
  return Run(&loop);
}

absl::StatusOr<SimulationResult> SimulateClosedLoop(const CompiledModel& config,
                                                    const ClosedLoop& clients,
                                                    std::vector<SimulatedRequest>* load,
                                                    MachineModel* machine) {
  RETURN_IF_ERROR(CheckSimulated(config));
  if (clients.clients == 0) {
    return absl::InvalidArgumentError("a closed loop needs at least one client");
  }
  const CompiledModel uncached = Uncached(config);
  EventLoop loop(uncached, *load, machine, clients);
  ASSIGN_OR_RETURN(SimulationResult result, Run(&loop));
  // Not all have arrived if a request is never answered.
  for (size_t i = 0; i < loop.arrivals().size(); ++i) (*load)[i].arrival_ns = loop.arrivals()[i];
  return result;
}

}  // namespace nereid
