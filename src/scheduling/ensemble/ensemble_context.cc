// SPDX-License-Identifier: Apache-2.0
#include "scheduling/ensemble/ensemble_context.h"

#include <iterator>
#include <utility>

namespace nereid {
StepGate::StepGate(const StepGraph& graph, uint32_t limit) : limit_(limit) {
  MutexLock lock(&mu_);
  steps_.resize(graph.steps().size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    const StepGraph::Step& step = graph.steps()[i];
    if (step.decoupled || step.iterated) continue;
    for (const StepGraph::Port& output : step.outputs) {
      for (const uint32_t reader : graph.tensors()[output.tensor].readers) {
        if (!graph.steps()[reader].iterated) steps_[i].readers.push_back(reader);
      }
    }
  }
}

bool StepGate::MayStart(const Step& step) const {
  if (step.active >= limit_) return false;
  for (const uint32_t reader : step.readers) {
    if (steps_[reader].waiting.size() >= limit_) return false;
  }
  return true;
}

bool StepGate::Enter(std::shared_ptr<EnsembleRun> run, const StepRun& step_run) {
  MutexLock lock(&mu_);
  Step& step = steps_[step_run.step];
  if (step.waiting.empty() && MayStart(step)) {
    ++step.active;
    return true;
  }
  step.waiting.push_back({std::move(run), step_run});
  step.waiting.back().step.gated = true;  // as soon as it starts
  return false;
}

void StepGate::StartMore(Entries* start) noexcept {
  // A step that starts may let those before it start, which may be anywhere in the list.
  for (bool more = true; more;) {
    more = false;
    for (Step& step : steps_) {
      while (!step.waiting.empty() && MayStart(step)) {
        start->splice(start->end(), step.waiting, step.waiting.begin());
        ++step.active;
        more = true;
      }
    }
  }
}

void StepGate::Leave(uint32_t step, Entries* start) noexcept {
  MutexLock lock(&mu_);
  --steps_[step].active;
  StartMore(start);
}

void StepGate::Remove(const EnsembleRun* run, Entries* removed, Entries* start) noexcept {
  MutexLock lock(&mu_);
  for (Step& step : steps_) {
    for (auto entry = step.waiting.begin(); entry != step.waiting.end();) {
      const auto next = std::next(entry);
      if (entry->run.get() == run) removed->splice(removed->end(), step.waiting, entry);
      entry = next;
    }
  }
  StartMore(start);
}

}  // namespace nereid
