// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/plan/plan_run.h"

#include <exception>
#include <utility>

#include "base/caught.h"
#include "base/log.h"

namespace nereid {

namespace {

// The run whose actions the thread is starting; null: none.
thread_local const PlanRun* starting = nullptr;

}  // namespace

PlanRun::Completion& PlanRun::Completion::operator=(Completion&& other) noexcept {
  std::swap(run_, other.run_);
  std::swap(index_, other.index_);
  return *this;
}

PlanRun::Completion::~Completion() {
  if (run_ != nullptr) Report(OutOfMemory());
}

void PlanRun::Completion::Report(absl::Status status) noexcept {
  if (run_ == nullptr) return;
  const std::shared_ptr<PlanRun> run = std::move(run_);
  run->OnDone(index_, std::move(status));
}

PlanRun::PlanRun(std::vector<PlannedAction> actions, Start start, Ended ended)
    : actions_(std::move(actions)),
      start_(std::make_shared<Start>(std::move(start))),
      ended_(std::move(ended)),
      results_(actions_.size()),
      left_(actions_.size()) {
  ready_.reserve(actions_.size());
  awaited_by_.resize(actions_.size());
  for (size_t i = 0; i < actions_.size(); ++i) {
    waits_for_.push_back(actions_[i].after.size());
    for (const size_t before : actions_[i].after) awaited_by_[before].push_back(i);
  }
}

std::shared_ptr<PlanRun> PlanRun::Begin(std::vector<PlannedAction> actions, Start start,
                                        Ended ended) {
  std::shared_ptr<PlanRun> run(new PlanRun(std::move(actions), std::move(start), std::move(ended)));
  {
    MutexLock lock(&run->mu_);
    // The first action comes last, because actions are taken from the back.
    for (size_t i = run->actions_.size(); i-- > 0;) {
      if (run->waits_for_[i] == 0) run->ready_.push_back(i);
    }
  }
  run->StartReady();
  if (run->actions_.empty()) run->ReportEnd();
  return run;
}

void PlanRun::StartReady() noexcept {
  if (starting == this) return;
  const PlanRun* const outer = std::exchange(starting, this);
  while (true) {
    std::shared_ptr<Start> start;
    size_t index;
    {
      MutexLock lock(&mu_);
      if (ready_.empty()) break;
      index = ready_.back();
      ready_.pop_back();
      start = start_;
    }
    try {
      (*start)(index, Completion(shared_from_this(), index));
    } catch (const std::exception& e) {
      // The destructor of the action's completion has reported the failure.
      LOG_ERROR << "model '" << actions_[index].model.name << "': " << e.what();
    }
  }
  starting = outer;
}

void PlanRun::OnDone(size_t index, absl::Status status) noexcept {
  std::shared_ptr<Start> finished;
  {
    MutexLock lock(&mu_);
    results_[index] = std::move(status);
    // The first one comes last, because actions are taken from the back.
    const std::vector<size_t>& others = awaited_by_[index];
    for (auto other = others.rbegin(); other != others.rend(); ++other) {
      if (--waits_for_[*other] == 0) ready_.push_back(*other);
    }
    if (--left_ == 0) finished.swap(start_);
  }
  if (finished != nullptr) return ReportEnd();
  StartReady();
}

void PlanRun::ReportEnd() noexcept {
  Ended ended;
  {
    MutexLock lock(&mu_);
    ended = std::exchange(ended_, nullptr);
  }
  all_ended_.NotifyAll();
  if (!ended) return;
  try {
    ended(*this);
  } catch (const std::exception& e) {
    LOG_ERROR << "after a change of the models: " << e.what();
  }
}

void PlanRun::Wait() {
  MutexLock lock(&mu_);
  while (left_ > 0) all_ended_.Wait(&mu_);
}

absl::Status PlanRun::result(size_t index) const {
  MutexLock lock(&mu_);
  return results_[index];
}

}  // namespace nereid
