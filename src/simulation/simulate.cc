#include "simulation/simulate.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include "base/status_macros.h"
#include "scheduling/make_scheduler.h"
#include "simulation/event_loop.h"

namespace nereid {
namespace {

absl::Status CheckModel(const CompiledModel& config) {
  if (!config.ensemble.steps.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "model '", config.name, "' is an ensemble; only models with instances can be simulated"));
  }
  if (absl::c_all_of(config.instances, [](const InstanceSpec& spec) { return spec.passive; })) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", config.name, "' has no instance that takes requests"));
  }
  return absl::OkStatus();
}

absl::Status CheckArrivals(const std::vector<SimulatedRequest>& load) {
  const auto later = [](const SimulatedRequest& a, const SimulatedRequest& b) {
    return a.arrival_ns < b.arrival_ns;
  };
  if (load.empty()) return absl::OkStatus();
  if (!absl::c_is_sorted(load, later) || load.front().arrival_ns == 0) {
    return absl::InvalidArgumentError(
        "the requests of a simulation must be in the order of their arrivals, which begin at 1 ns");
  }
  return absl::OkStatus();
}

CompiledModel Uncached(CompiledModel config) {
  config.response_cache = false;
  return config;
}

absl::StatusOr<SimulationResult> Run(EventLoop* loop) {
  return loop->Run([loop](const CompiledModel& model) {
    SchedulerTools tools;
    tools.clock = loop->clock();
    tools.timer = loop->timer();
    BackendTraits backend;
    backend.make_strategy = [] { return std::unique_ptr<BatchStrategy>(); };
    return MakeScheduler(model, "", tools, backend);
  });
}

}  // namespace

absl::StatusOr<SimulationResult> Simulate(const CompiledModel& config,
                                          const std::vector<SimulatedRequest>& load,
                                          MachineModel* machine) {
  RETURN_IF_ERROR(CheckModel(config));
  RETURN_IF_ERROR(CheckArrivals(load));
  EventLoop loop(Uncached(config), load, machine);
  return Run(&loop);
}

absl::StatusOr<SimulationResult> SimulateClosedLoop(const CompiledModel& config,
                                                    const ClosedLoop& clients,
                                                    std::vector<SimulatedRequest>* load,
                                                    MachineModel* machine) {
  RETURN_IF_ERROR(CheckModel(config));
  if (clients.clients == 0) {
    return absl::InvalidArgumentError("a closed loop needs at least one client");
  }
  EventLoop loop(Uncached(config), *load, machine, clients);
  ASSIGN_OR_RETURN(SimulationResult result, Run(&loop));
  // Not all have arrived if a request is never answered.
  for (size_t i = 0; i < loop.arrivals().size(); ++i) (*load)[i].arrival_ns = loop.arrivals()[i];
  return result;
}

}  // namespace nereid
