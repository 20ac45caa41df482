// SPDX-License-Identifier: Apache-2.0
#include "simulation/preparation.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <memory>
#include <utility>

#include "scheduling/make_scheduler.h"

namespace nereid {

absl::Status CheckSimulated(const CompiledModel& config) {
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

SchedulerMaker RealScheduler(Clock* clock, std::function<Timer*()> timer) {
  return [clock, timer = std::move(timer)](const CompiledModel& model) {
    SchedulerTools tools;
    tools.clock = clock;
    tools.timer = timer();
    BackendTraits backend;
    backend.make_strategy = [] { return std::unique_ptr<BatchStrategy>(); };
    return MakeScheduler(model, "", tools, backend);
  };
}

}  // namespace nereid
