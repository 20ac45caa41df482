#include "scheduling/ensemble/run_progress.h"

#include <algorithm>

namespace nereid {

RunProgress::RunProgress(const StepGraph& graph, const StepPlan& plan, uint32_t max_inflight)
    : graph_(graph),
      max_inflight_(max_inflight),
      steps_(graph.steps().size()),
      runs_(plan.runs.begin(), plan.runs.end()),
      wanted_(graph.outputs().size(), 0),
      came_(graph.outputs().size(), 0) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].inputs.fixed_missing = plan.fixed_inputs[i];
    steps_[i].inputs.moving_needed = plan.moving_inputs[i];
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

void RunProgress::Arrive(uint32_t tensor_id, uint32_t iteration, TimePoint now, StepRuns* start,
                         absl::InlinedVector<uint32_t, 1>* complete) {
  const StepGraph::Tensor& tensor = graph_.tensors()[tensor_id];
  for (const uint32_t reader : tensor.readers) {
    if (runs_[reader] == 0) continue;
    Gather(&steps_[reader].inputs, tensor.iterated, iteration,
           [&](uint32_t ready) { Ready(reader, ready, now, start); });
  }
  if (tensor.output < 0 || wanted_[static_cast<size_t>(tensor.output)] == 0) return;
  came_[static_cast<size_t>(tensor.output)] = 1;
  Gather(&outputs_, tensor.iterated, iteration,
         [&](uint32_t ready) { complete->push_back(ready); });
}

void RunProgress::Ready(uint32_t step, uint32_t iteration, TimePoint now, StepRuns* start) {
  if (abandoned_) return;
  StepState& state = steps_[step];
  // The entry comes first, because it takes memory: every execution that is counted must start or
  // be parked.
  if (max_inflight_ > 0 && state.active >= max_inflight_) {
    state.parked.push_back({iteration, now});
    ++parked_;
  } else {
    start->push_back({step, iteration});
    ++state.active;
  }
  ++under_way_;
}

void RunProgress::Finish(uint32_t step, StepRuns* start) {
  StepState& state = steps_[step];
  --under_way_;
  --state.active;
  // Usually takes no memory: `start` is empty, and has room for some entries.
  if (!state.parked.empty() && state.active < max_inflight_) StartFirst(step, start);
}

void RunProgress::StartFirst(uint32_t step, StepRuns* start) {
  StepState& state = steps_[step];
  start->push_back({step, state.parked.front().iteration});
  state.parked.pop_front();
  --parked_;
  ++state.active;
}

void RunProgress::StartParked(TimePoint since, StepRuns* start) {
  for (uint32_t step = 0; step < steps_.size(); ++step) {
    std::list<Parked>& parked = steps_[step].parked;
    while (!parked.empty() && parked.front().since <= since) StartFirst(step, start);
  }
}

TimePoint RunProgress::parked_since() const {
  TimePoint since = TimePoint::max();
  for (const StepState& state : steps_) {
    if (!state.parked.empty()) since = std::min(since, state.parked.front().since);
  }
  return since;
}

void RunProgress::Abandon() {
  abandoned_ = true;
  under_way_ -= parked_;
  parked_ = 0;
  for (StepState& state : steps_) state.parked.clear();
}

}  // namespace nereid
