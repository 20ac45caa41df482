// IdleInstances: the instances of a model whose threads wait for a batch. Decides which of them
// waits with a deadline, is woken, is lent to an I/O thread, or has to leave.
//
// Thread-compatible: owned by a scheduler and used under its mutex, which Wait releases. Marked
// members need no mutex.
//
// Of the threads that wait while a batch forms, one is the leader and waits with a deadline; the
// others sleep until they are woken. An instance may be lent to the I/O thread that brings a
// request, while its own thread sleeps on (infer/inline_turn.h).
#ifndef NEREID_SCHEDULING_DYNAMIC_IDLE_INSTANCES_H_
#define NEREID_SCHEDULING_DYNAMIC_IDLE_INSTANCES_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "infer/inline_turn.h"
#include "scheduling/scheduler.h"

namespace nereid {

class IdleInstances {
 public:
  class Waiter;

  // The user of an instance on loan.
  class Borrower {
   public:
    // Executes with `loan` on the calling thread, which ends `turn`; begins with BeginLoan and ends
    // with GiveBack. Called without the scheduler's mutex.
    virtual void RunOnLoan(Waiter* loan, InlineTurn* turn) noexcept = 0;

   protected:
    ~Borrower() = default;
  };

  // The wait of one instance's thread. The object is kept when the wait is over, so that a thread
  // may wake it after releasing the mutex: at worst the next thread that waits here wakes for
  // nothing.
  class Waiter final : public InlineTurn::Loan {
   public:
    explicit Waiter(Borrower* borrower) : borrower_(borrower) {}
    // Needs no mutex.
    void Wake() { wake_.NotifyOne(); }
    void RunInline(InlineTurn* turn) noexcept override { borrower_->RunOnLoan(this, turn); }
    // The instance. While it is on loan, needs no mutex.
    BatchExecutor* executor() const { return executor_; }

   private:
    friend class IdleInstances;

    Borrower* const borrower_;
    CondVar wake_;
    bool yields() const { return executor_ != nullptr && executor_->yields(); }

    BatchExecutor* executor_ = nullptr;  // constant while on loan
    const InlineTurn* turn_ = nullptr;   // the turn that will execute; null unless deferred
    bool on_loan_ = false;
  };

  // `borrower` outlives this.
  explicit IdleInstances(Borrower* borrower) : borrower_(borrower) {}
  IdleInstances(const IdleInstances&) = delete;
  IdleInstances& operator=(const IdleInstances&) = delete;

  // The number of waiting instances that were not woken and are not on loan.
  size_t size() const { return idle_.size(); }
  bool empty() const { return idle_.empty(); }
  // Whether there is a leader. A leader that was woken counts until its Wait continues.
  bool has_leader() const { return leader_ != nullptr; }

  // The calling thread, whose instance is `self` (null: nothing to lend), waits until it is woken.
  // If there is a `wake_at` and no leader, the thread leads, and waits until then at the latest.
  // May return for no reason. If there is no memory, throws before it waits.
  void Wait(Mutex* mu, Clock* clock, BatchExecutor* self, std::optional<TimePoint> wake_at)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Takes one instance that does not yield off the list, to be woken: the leader if it is listed,
  // otherwise the instance that has waited for the shortest time. Null if there is none.
  Waiter* Take();
  void WakeOne() {
    if (Waiter* const waiter = Take()) waiter->Wake();
  }
  void WakeAll();

  // ---- Loans.
  // Lends an idle instance. `deferred_to`: the turn at whose end the instance is used; null: it is
  // used at once. Returns null if there is no idle instance that may be lent.
  Waiter* Lend(const InlineTurn* deferred_to);
  // Whether an instance on loan will be used at the end of `turn`.
  bool IsLentTo(const InlineTurn* turn) const;
  // Requests that come from now on do not belong to this loan any more.
  void BeginLoan(Waiter* loan);
  // The instance waits again. REQUIRES: `loan` is on loan.
  void GiveBack(Waiter* loan);

  // ---- Retirement.
  // Makes TakeRetired return true for `executor`, and wakes its thread if that waits.
  void RemoveInstance(const BatchExecutor* executor);
  // Whether `executor` is to leave; forgets it.
  bool TakeRetired(const BatchExecutor* executor) {
    return !retired_.empty() && executor != nullptr && Forget(executor);
  }

 private:
  bool Forget(const BatchExecutor* executor);
  std::unique_ptr<Waiter> NewWaiter();

  Borrower* const borrower_;
  const Waiter* leader_ = nullptr;
  std::vector<Waiter*> idle_;      // wait and were not woken
  std::vector<Waiter*> deferred_;  // on loan until the end of a turn
  std::vector<std::unique_ptr<Waiter>> spare_;
  size_t waiters_ = 0;                         // objects made so far
  std::vector<const BatchExecutor*> retired_;  // were removed and have not pulled since
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_DYNAMIC_IDLE_INSTANCES_H_
