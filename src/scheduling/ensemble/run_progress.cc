#include "scheduling/ensemble/run_progress.h"

namespace nereid {

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
