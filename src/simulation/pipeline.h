// SPDX-License-Identifier: Apache-2.0
// SimulatePipeline: an ensemble in simulated time. Each of its models is a node with the scheduler
// that serves the real one; a request goes through the steps as their inputs allow. The same input
// gives the same result. Stateless.
#ifndef NEREID_SIMULATION_PIPELINE_H_
#define NEREID_SIMULATION_PIPELINE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/export.h"
#include "config/compiled_model.h"
#include "simulation/workload.h"

namespace nereid {

struct PipelineStep {
  size_t model = 0;           // its place in Pipeline::models
  std::vector<size_t> after;  // steps that have to be done before
};

struct Pipeline {
  std::vector<CompiledModel> models;
  std::vector<PipelineStep> steps;
};

// How the machine behaves. All outlive the simulation.
struct PipelineMachines {
  MachineModel* entry = nullptr;      // when a request of the ensemble reaches the first steps
  std::vector<MachineModel*> models;  // by model
};

// The models of an ensemble's steps, each once, in the order of the steps.
NEREID_API std::vector<std::string> ModelsOfSteps(const EnsembleSpec& ensemble);
// The steps, whose models are those of ModelsOfSteps.
NEREID_API std::vector<PipelineStep> StepsOf(const EnsembleSpec& ensemble);

// With `clients`, a closed loop, which writes into `load` when each request has arrived; otherwise
// requests arrive as `load` says. A request is answered when all steps are done, and fails with the
// first step that does. The result has no batches, and `batch` is 0 for requests that succeeded.
// INVALID_ARGUMENT as of Simulate, and for a pipeline without steps.
NEREID_API absl::StatusOr<SimulationResult> SimulatePipeline(
    const Pipeline& pipeline, const PipelineMachines& machines,
    const std::optional<ClosedLoop>& clients, std::vector<SimulatedRequest>* load);

}  // namespace nereid

#endif  // NEREID_SIMULATION_PIPELINE_H_
