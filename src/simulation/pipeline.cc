// SPDX-License-Identifier: Apache-2.0
#include "simulation/pipeline.h"

#include <absl/algorithm/container.h>

#include "base/status_macros.h"
#include "simulation/pipeline_loop.h"
#include "simulation/preparation.h"

namespace nereid {
namespace {

// Whether `step` reads what `before` writes.
bool Reads(const EnsembleStep& step, const EnsembleStep& before) {
  return absl::c_any_of(step.inputs, [&](const TensorMapping& input) {
    return absl::c_any_of(
        before.outputs, [&](const TensorMapping& output) { return output.tensor == input.tensor; });
  });
}

}  // namespace

std::vector<std::string> ModelsOfSteps(const EnsembleSpec& ensemble) {
  std::vector<std::string> names;
  for (const EnsembleStep& step : ensemble.steps) {
    if (!absl::c_linear_search(names, step.model_name)) names.push_back(step.model_name);
  }
  return names;
}

std::vector<PipelineStep> StepsOf(const EnsembleSpec& ensemble) {
  const std::vector<std::string> names = ModelsOfSteps(ensemble);
  std::vector<PipelineStep> steps;
  for (const EnsembleStep& step : ensemble.steps) {
    PipelineStep& made = steps.emplace_back();
    made.model = static_cast<size_t>(absl::c_find(names, step.model_name) - names.begin());
    for (size_t other = 0; other < ensemble.steps.size(); ++other) {
      if (Reads(step, ensemble.steps[other])) made.after.push_back(other);
    }
  }
  return steps;
}

absl::StatusOr<SimulationResult> SimulatePipeline(const Pipeline& pipeline,
                                                  const PipelineMachines& machines,
                                                  const std::optional<ClosedLoop>& clients,
                                                  std::vector<SimulatedRequest>* load) {
  if (pipeline.steps.empty()) {
    return absl::InvalidArgumentError("a pipeline needs at least one step");
  }
  for (const CompiledModel& model : pipeline.models) RETURN_IF_ERROR(CheckSimulated(model));
  if (!clients.has_value()) {
    RETURN_IF_ERROR(CheckArrivals(*load));
  } else if (clients->clients == 0) {
    return absl::InvalidArgumentError("a closed loop needs at least one client");
  }
  PipelineLoop loop(pipeline, machines, clients, *load);
  ASSIGN_OR_RETURN(SimulationResult result, loop.Run());
  // Not all have arrived if a request is never answered.
  for (size_t i = 0; i < loop.arrivals().size(); ++i) (*load)[i].arrival_ns = loop.arrivals()[i];
  return result;
}

}  // namespace nereid
