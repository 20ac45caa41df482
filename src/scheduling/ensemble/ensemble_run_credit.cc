// SPDX-License-Identifier: Apache-2.0
// When the executions of a run may start: its request's credit, and the ensemble's limits.
#include <algorithm>
#include <new>
#include <utility>

#include "scheduling/ensemble/ensemble_run.h"
#include "scheduling/ensemble/ensemble_run_parts.h"

namespace nereid {
namespace {

// How many executions may be ahead of the answers of a run: before the size of an answer is known,
// and at most.
constexpr uint64_t kFirstAhead = 16;
constexpr uint64_t kMostAhead = 256;
// Executions that may wait for credit before the decoupled steps lose theirs.
constexpr size_t kMostWaiting = 256;

}  // namespace

bool EnsembleRun::IsIterated(const StepRun& step) const {
  const std::vector<StepGraph::Port>& inputs = context_->graph.steps()[step.step].inputs;
  return std::any_of(inputs.begin(), inputs.end(), [this](const StepGraph::Port& input) {
    return context_->graph.tensors()[input.tensor].iterated;
  });
}

void EnsembleRun::QueueIterated(Work* work) noexcept try {
  StepRuns* const start = &work->start;
  const auto waits = [this](const StepRun& step) { return !step.admitted && IsIterated(step); };
  for (auto step = std::find_if(start->begin(), start->end(), waits); step != start->end();
       step = std::find_if(step, start->end(), waits)) {
    lanes_[step->step].waiting.insert(step->iteration);
    ++waiting_;
    step = start->erase(step);
  }
  if (waiting_ > 0) Resume(work);
} catch (const std::bad_alloc&) {
  FailForMemory(work);  // those that are left fail when they start
}

bool EnsembleRun::HasRoom() const {
  if (credit_ == nullptr) return true;
  // As many executions as would fill the credit if each answer were as large as the largest one so
  // far.
  const uint64_t ahead =
      largest_answer_ == 0
          ? kFirstAhead
          : std::clamp<uint64_t>(credit_->most_bytes() / largest_answer_, 1, kMostAhead);
  return admitted_ + unsent_ < ahead;
}

void EnsembleRun::Resume(Work* work) noexcept try {
  // Read once, because it changes at any time: who is told to wait must be told when to go on.
  const bool credit = credit_ == nullptr || credit_->has_credit();
  for (Lane* lane; credit && HasRoom() && (lane = NextLane()) != nullptr;) {
    const auto first = lane->waiting.begin();
    work->start.push_back({static_cast<uint32_t>(lane - lanes_.data()), *first, /*admitted=*/true});
    lane->waiting.erase(first);
    lane->starting = true;
    --waiting_;
    ++admitted_;
  }
  if (credit_ == nullptr || settled_ || !status_.ok()) return;
  ShareCredit(credit, work);
  const bool lacks = !credit && (waiting_ > 0 || steps_lack_credit_);
  if (!lacks || awaits_credit_) return;
  for (const ModelPass& pass : models_) {
    if (pass) work->members.push_back(pass.model());
  }
  work->awaited = request_->stream();
  awaits_credit_ = true;
} catch (const std::bad_alloc&) {
  FailForMemory(work);
  Settle(work);
}

void EnsembleRun::EndStarting(const StepRun& step, Work* work) noexcept {
  if (!step.admitted) return;
  lanes_[step.step].starting = false;
  Resume(work);
}

void EnsembleRun::PassGate(Work* work) noexcept {
  // In a run that has failed, steps end without being issued.
  for (auto step = work->start.begin(); status_.ok() && step != work->start.end();) {
    try {
      if (step->gated || context_->gate.Enter(shared_from_this(), *step)) {
        (step++)->gated = true;
      } else {
        step = work->start.erase(step);
      }
    } catch (const std::bad_alloc&) {
      FailForMemory(work);
    }
  }
}

void EnsembleRun::LeaveGate(Work* work) noexcept {
  context_->gate.Remove(this, &work->removed, &work->others);
  for (const StepGate::Entry& removed : work->removed) {
    progress_.Finish();
    if (!removed.step.admitted) continue;
    --admitted_;
    lanes_[removed.step.step].starting = false;
  }
}

void EnsembleRun::ShareCredit(bool credit, Work* work) {
  // Steps lose their credit at a limit and regain it at half of it, so that they are not stopped
  // and started with each answer.
  const bool full = pool_.bytes() > credit_->most_bytes();
  const bool lose = !credit || waiting_ >= kMostWaiting || (full && waiting_ > 0);
  const bool regain = credit && (waiting_ == 0 || (waiting_ <= kMostWaiting / 2 &&
                                                   pool_.bytes() <= credit_->most_bytes() / 2));
  if (steps_lack_credit_ ? !regain : !lose) return;
  steps_lack_credit_ = lose;
  for (const Call* const call : calls_) {
    if (call->credit == nullptr) continue;
    if (lose) {
      call->credit->Withdraw();
    } else {
      work->credited.Add(call->credit->Give());
    }
  }
}

void EnsembleRun::AwaitCredit(Work work) noexcept {
  try {
    const std::shared_ptr<ResponseCredit>& credit = work.awaited->credit();
    for (const auto& model : work.members) model->AddWaiting(credit);
    work.awaited->OnCredit([self = shared_from_this()] { self->OnCredit(); });
    return;
  } catch (const std::bad_alloc&) {
  }
  Work failed;
  {
    MutexLock lock(&mu_);
    awaits_credit_ = false;
    FailForMemory(&failed);
    Settle(&failed);
  }
  Do(std::move(failed));
}

void EnsembleRun::OnCredit() noexcept {
  Work work;
  {
    MutexLock lock(&mu_);
    awaits_credit_ = false;
    if (settled_ || !status_.ok()) return;
    if (request_->stream()->IsCancelled()) {
      FailCancelled(&work);
      Settle(&work);
    } else {
      Resume(&work);
    }
  }
  Do(std::move(work));
}

}  // namespace nereid
