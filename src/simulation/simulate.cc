#include "simulation/simulate.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include "scheduling/make_scheduler.h"
#include "simulation/event_loop.h"

namespace nereid {
namespace {

absl::Status Check(const CompiledModel& config, const std::vector<SimulatedRequest>& load) {
  if (!config.ensemble.steps.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "model '", config.name, "' is an ensemble; only models with instances can be simulated"));
  }
  if (absl::c_all_of(config.instances, [](const InstanceSpec& spec) { return spec.passive; })) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", config.name, "' has no instance that takes requests"));
  }
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

}  // namespace

absl::StatusOr<SimulationResult> Simulate(const CompiledModel& config,
                                          const std::vector<SimulatedRequest>& load,
                                          MachineModel* machine) {
  if (absl::Status good = Check(config, load); !good.ok()) return good;
  CompiledModel uncached = config;
  uncached.response_cache = false;
  EventLoop loop(uncached, load, machine);
  return loop.Run([&loop](const CompiledModel& model) {
    SchedulerTools tools;
    tools.clock = loop.clock();
    tools.timer = loop.timer();
    BackendTraits backend;
    backend.make_strategy = [] { return std::unique_ptr<BatchStrategy>(); };
    return MakeScheduler(model, "", tools, backend);
  });
}

}  // namespace nereid
