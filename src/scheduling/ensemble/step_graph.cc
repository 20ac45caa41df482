// SPDX-License-Identifier: Apache-2.0
#include "scheduling/ensemble/step_graph.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/status_macros.h"
#include "config/ensemble_members.h"

namespace nereid {
absl::StatusOr<StepGraph> StepGraph::Make(const CompiledModel& ensemble,
                                          const std::vector<bool>& decoupled) {
  ASSIGN_OR_RETURN(const std::vector<uint32_t> origins, DecoupledOrigins(ensemble, decoupled));
  StepGraph graph;
  for (const InputSpec& input : ensemble.inputs)
    graph.inputs_.push_back(graph.TensorOf(input.name));
  for (size_t i = 0; i < ensemble.ensemble.steps.size(); ++i) {
    const EnsembleStep& spec = ensemble.ensemble.steps[i];
    Step step{spec, {}, {}, decoupled[i], origins[i] != 0};
    for (const TensorMapping& input : spec.inputs) {
      step.inputs.push_back({input.name, graph.TensorOf(input.tensor)});
      graph.tensors_[step.inputs.back().tensor].readers.push_back(static_cast<uint32_t>(i));
    }
    for (const TensorMapping& output : spec.outputs) {
      step.outputs.push_back({output.name, graph.TensorOf(output.tensor)});
      Tensor& tensor = graph.tensors_[step.outputs.back().tensor];
      tensor.writer = static_cast<int32_t>(i);
      // It has several values if its step has several answers, or is itself executed for each value
      // of another such tensor.
      tensor.iterated = step.decoupled || step.iterated;
    }
    graph.steps_.push_back(std::move(step));
  }
  for (const OutputSpec& output : ensemble.outputs) {
    const uint32_t tensor = graph.TensorOf(output.name);
    graph.tensors_[tensor].output = static_cast<int32_t>(graph.outputs_.size());
    graph.outputs_.push_back(tensor);
  }
  std::vector<uint32_t> all(graph.outputs_.size());
  std::iota(all.begin(), all.end(), 0);
  graph.full_plan_ = graph.PlanFor(all);
  return graph;
}

bool StepGraph::shares_inputs() const {
  return std::any_of(inputs_.begin(), inputs_.end(), [this](uint32_t input) {
    const Tensor& tensor = tensors_[input];
    return tensor.readers.size() + (tensor.output >= 0 ? 1 : 0) > 1;
  });
}

StepPlan StepGraph::PlanFor(absl::Span<const uint32_t> outputs) const {
  StepPlan plan;
  plan.outputs.assign(outputs.begin(), outputs.end());
  plan.runs.assign(steps_.size(), 0);
  plan.uses.assign(tensors_.size(), 0);
  plan.fixed_inputs.assign(steps_.size(), 0);
  plan.moving_inputs.assign(steps_.size(), 0);
  for (const uint32_t output : outputs) MarkNeeded(outputs_[output], &plan);

  // The only value of a tensor that is not iterated may be read in many iterations.
  const auto use = [&](uint32_t tensor, bool by_iterated) {
    uint32_t& uses = plan.uses[tensor];
    if (by_iterated && !tensors_[tensor].iterated) {
      uses = StepPlan::kUncounted;
    } else if (uses != StepPlan::kUncounted) {
      ++uses;
    }
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (plan.runs[i] == 0) continue;
    ++plan.step_count;
    plan.decoupled |= steps_[i].decoupled;
    for (const Port& input : steps_[i].inputs) {
      ++(tensors_[input.tensor].iterated ? plan.moving_inputs : plan.fixed_inputs)[i];
      use(input.tensor, steps_[i].iterated);
    }
  }
  for (const uint32_t output : outputs) {
    ++(tensors_[outputs_[output]].iterated ? plan.moving_outputs : plan.fixed_outputs);
  }
  for (const uint32_t output : outputs) use(outputs_[output], plan.moving_outputs > 0);
  return plan;
}

uint32_t StepGraph::TensorOf(const std::string& name) {
  // A linear search is enough: ensembles have few tensors, and this is done at load.
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].name == name) return static_cast<uint32_t>(i);
  }
  tensors_.push_back({name, {}, -1, false, -1});
  return static_cast<uint32_t>(tensors_.size() - 1);
}

void StepGraph::MarkNeeded(uint32_t tensor, StepPlan* plan) const {
  std::vector<uint32_t> pending = {tensor};
  while (!pending.empty()) {
    const int32_t writer = tensors_[pending.back()].writer;
    pending.pop_back();
    if (writer < 0 || plan->runs[static_cast<size_t>(writer)] != 0) continue;
    plan->runs[static_cast<size_t>(writer)] = 1;
    for (const Port& input : steps_[static_cast<size_t>(writer)].inputs) {
      pending.push_back(input.tensor);
    }
  }
}

RunProgress::RunProgress(const StepGraph& graph, const StepPlan& plan)
    : graph_(graph),
      steps_(graph.steps().size()),
      runs_(plan.runs.begin(), plan.runs.end()),
      wanted_(graph.outputs().size(), 0),
      came_(graph.outputs().size(), 0) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].fixed_missing = plan.fixed_inputs[i];
    steps_[i].moving_needed = plan.moving_inputs[i];
  }
  outputs_.fixed_missing = plan.fixed_outputs;
  outputs_.moving_needed = plan.moving_outputs;
  for (const uint32_t output : plan.outputs) wanted_[output] = 1;
}

template <typename Complete>
void RunProgress::Gather(Gathering* gathering, bool moving, uint32_t iteration,
                         const Complete& complete) {
  if (moving) {
    if (gathering->moving_needed == 1) {
      if (gathering->fixed_missing == 0) return complete(iteration);
      gathering->moving_here[iteration] = 1;
      return;
    }
    const uint32_t here = ++gathering->moving_here[iteration];
    if (here < gathering->moving_needed || gathering->fixed_missing > 0) return;
    gathering->moving_here.erase(iteration);
    return complete(iteration);
  }
  if (--gathering->fixed_missing > 0) return;
  if (gathering->moving_needed == 0) return complete(0);
  for (auto it = gathering->moving_here.begin(); it != gathering->moving_here.end();) {
    if (it->second < gathering->moving_needed) {
      ++it;
      continue;
    }
    complete(it->first);
    it = gathering->moving_here.erase(it);
  }
}

void RunProgress::Arrive(uint32_t tensor_id, uint32_t iteration, StepRuns* start,
                         absl::InlinedVector<uint32_t, 1>* complete) {
  const StepGraph::Tensor& tensor = graph_.tensors()[tensor_id];
  for (const uint32_t reader : tensor.readers) {
    if (runs_[reader] == 0) continue;
    Gather(&steps_[reader], tensor.iterated, iteration, [&](uint32_t ready) {
      if (abandoned_) return;
      start->push_back({reader, ready});  // first, because it may take memory
      ++under_way_;
    });
  }
  if (tensor.output < 0 || wanted_[static_cast<size_t>(tensor.output)] == 0) return;
  came_[static_cast<size_t>(tensor.output)] = 1;
  Gather(&outputs_, tensor.iterated, iteration,
         [&](uint32_t ready) { complete->push_back(ready); });
}

}  // namespace nereid
