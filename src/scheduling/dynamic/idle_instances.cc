#include "scheduling/dynamic/idle_instances.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nereid {

std::unique_ptr<IdleInstances::Waiter> IdleInstances::NewWaiter() {
  if (spare_.empty()) {
    // Both lists get room for the new object, so that the wait takes no memory from here on.
    idle_.reserve(waiters_ + 1);
    spare_.reserve(waiters_ + 1);
    spare_.push_back(std::make_unique<Waiter>(borrower_));
    ++waiters_;
  }
  std::unique_ptr<Waiter> waiter = std::move(spare_.back());
  spare_.pop_back();
  return waiter;
}

void IdleInstances::Wait(Mutex* mu, Clock* clock, BatchExecutor* self,
                         std::optional<TimePoint> wake_at) {
  std::unique_ptr<Waiter> me = NewWaiter();
  me->executor_ = self;
  idle_.push_back(me.get());
  const bool lead = wake_at.has_value() && leader_ == nullptr;
  if (lead) {
    leader_ = me.get();
    clock->Wait(&me->wake_, mu, wake_at);
    leader_ = nullptr;
  } else {
    me->wake_.Wait(mu);
  }
  while (me->on_loan_) me->wake_.Wait(mu);
  idle_.erase(std::remove(idle_.begin(), idle_.end(), me.get()), idle_.end());
  spare_.push_back(std::move(me));
}

IdleInstances::Waiter* IdleInstances::Take() {
  auto chosen = std::find(idle_.begin(), idle_.end(), leader_);
  if (chosen == idle_.end() || (*chosen)->yields()) {
    // The thread that came last: its data is still in the CPU cache.
    const auto last =
        std::find_if(idle_.rbegin(), idle_.rend(), [](const Waiter* w) { return !w->yields(); });
    if (last == idle_.rend()) return nullptr;
    chosen = std::prev(last.base());
  }
  Waiter* const waiter = *chosen;
  idle_.erase(chosen);
  return waiter;
}

void IdleInstances::WakeAll() {
  for (Waiter* waiter : idle_) waiter->Wake();
  idle_.clear();
}

IdleInstances::Waiter* IdleInstances::Lend(const InlineTurn* deferred_to) {
  if (deferred_to != nullptr) deferred_.reserve(deferred_.size() + 1);
  for (auto it = idle_.rbegin(); it != idle_.rend(); ++it) {
    Waiter* const waiter = *it;
    if (waiter->executor_ == nullptr || waiter == leader_) continue;
    if (!waiter->executor_->lendable()) continue;
    idle_.erase(std::next(it).base());
    waiter->on_loan_ = true;
    waiter->turn_ = deferred_to;
    if (deferred_to != nullptr) deferred_.push_back(waiter);
    return waiter;
  }
  return nullptr;
}

bool IdleInstances::IsLentTo(const InlineTurn* turn) const {
  return std::any_of(deferred_.begin(), deferred_.end(),
                     [&](const Waiter* loan) { return loan->turn_ == turn; });
}

void IdleInstances::BeginLoan(Waiter* loan) {
  deferred_.erase(std::remove(deferred_.begin(), deferred_.end(), loan), deferred_.end());
}

void IdleInstances::GiveBack(Waiter* loan) {
  loan->on_loan_ = false;
  loan->turn_ = nullptr;
  idle_.push_back(loan);
  if (!retired_.empty()) WakeAll();  // this instance may have to leave
}

void IdleInstances::RemoveInstance(const BatchExecutor* executor) {
  retired_.push_back(executor);
  WakeAll();
}

bool IdleInstances::Forget(const BatchExecutor* executor) {
  const auto it = std::find(retired_.begin(), retired_.end(), executor);
  if (it == retired_.end()) return false;
  retired_.erase(it);
  return true;
}

}  // namespace nereid
