#include "lifecycle/plan_run.h"

#include <algorithm>
#include <utility>

namespace nereid {

PlanRun::PlanRun(std::vector<PlannedAction> actions, Start start)
    : actions_(std::move(actions)),
      start_(std::move(start)),
      results_(actions_.size()),
      left_(actions_.size()) {
  for (const PlannedAction& action : actions_) waits_for_.push_back(action.after.size());
}

std::shared_ptr<PlanRun> PlanRun::Begin(std::vector<PlannedAction> actions, Start start) {
  std::shared_ptr<PlanRun> run(new PlanRun(std::move(actions), std::move(start)));
  std::vector<size_t> ready;
  for (size_t i = 0; i < run->actions_.size(); ++i) {
    if (run->actions_[i].after.empty()) ready.push_back(i);
  }
  run->StartAll(ready);
  return run;
}

void PlanRun::StartAll(const std::vector<size_t>& ready) {
  if (ready.empty()) return;
  Start start;
  {
    MutexLock lock(&mu_);
    start = start_;
  }
  for (const size_t index : ready) {
    start(index, [self = shared_from_this(), index](absl::Status status) {
      self->OnDone(index, std::move(status));
    });
  }
}

void PlanRun::OnDone(size_t index, absl::Status status) {
  std::vector<size_t> ready;
  Start finished;
  {
    MutexLock lock(&mu_);
    results_[index] = std::move(status);
    for (size_t i = index + 1; i < actions_.size(); ++i) {
      const std::vector<size_t>& after = actions_[i].after;
      if (std::find(after.begin(), after.end(), index) == after.end()) continue;
      if (--waits_for_[i] == 0) ready.push_back(i);
    }
    if (--left_ == 0) finished.swap(start_);
  }
  StartAll(ready);
  ended_.NotifyAll();
}

void PlanRun::Wait() {
  MutexLock lock(&mu_);
  while (left_ > 0) ended_.Wait(&mu_);
}

absl::Status PlanRun::result(size_t index) const {
  MutexLock lock(&mu_);
  return results_[index];
}

}  // namespace nereid
