// DynamicScheduler: the queue of one model and the batches formed from it; also the default
// scheduler, whose batches are single requests. Thread-safe. Owned by its model, which outlives it.
//
// Requests that are cancelled or have timed out are dropped at once, also while all instances work:
// by the thread that cancels, and by a thread of the timer.
//
// Idle instances pull. Of those that wait while a batch forms, one is the leader and waits with
// the deadline that the policy gave; the others sleep until they are woken. An idle instance may be
// lent to the I/O thread that brings a request, while its own thread sleeps on (inline_turn.h).
#ifndef NEREID_SCHEDULING_DYNAMIC_DYNAMIC_SCHEDULER_H_
#define NEREID_SCHEDULING_DYNAMIC_DYNAMIC_SCHEDULER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/timer.h"
#include "infer/inline_turn.h"
#include "infer/serving_model.h"
#include "scheduling/dynamic/batch_former.h"
#include "scheduling/dynamic/batch_strategy.h"
#include "scheduling/dynamic/inline_policy.h"
#include "scheduling/scheduler.h"

namespace nereid {

struct DynamicSchedulerOptions {
  // Tells when a request has timed out; null: the scheduler looks when an instance pulls. Outlives
  // the scheduler's Shutdown.
  Timer* timer = nullptr;
  // A model with dynamic batching gives nothing to its instances until so many requests have been
  // in its queue at a time, or its admission is closed. A help for tests.
  size_t hold_until_queued = 0;
  // Batches are formed by an AdaptivePolicy with this target; zero: as the configuration says. Not
  // with a strategy, and only for instances that call Pull.
  Duration target{0};
};

class DynamicScheduler final : public Scheduler, public BatchSource, public StagedSource {
 public:
  // `strategy` may be null. `config` outlives this. `inline_limit`: I/O threads may execute batches
  // that are known to take no longer; zero: none.
  DynamicScheduler(const CompiledModel* config, std::unique_ptr<BatchStrategy> strategy,
                   Clock* clock, Duration inline_limit = Duration(0),
                   const DynamicSchedulerOptions& options = {});
  ~DynamicScheduler() override;

  absl::Status Enqueue(RequestPtr* request) override ABSL_LOCKS_EXCLUDED(mu_);
  void CloseAdmission() override ABSL_LOCKS_EXCLUDED(mu_);
  void OnCancel(InferRequest* request) override ABSL_LOCKS_EXCLUDED(mu_);
  void Shutdown() override ABSL_LOCKS_EXCLUDED(mu_);

  Batch Pull(BatchExecutor* self, std::optional<Duration> took) override ABSL_LOCKS_EXCLUDED(mu_);
  bool AwaitDue() override ABSL_LOCKS_EXCLUDED(mu_);
  bool HasDue() override ABSL_LOCKS_EXCLUDED(mu_);
  std::optional<Batch> TryPull() override ABSL_LOCKS_EXCLUDED(mu_);
  void PassOn() override ABSL_LOCKS_EXCLUDED(mu_);

  // `executor` gets no more batches: its thread's Pull returns an empty one, once it has executed
  // what it has. What is queued stays for the others.
  void Retire(const BatchExecutor* executor) ABSL_LOCKS_EXCLUDED(mu_);
  // AwaitDue returns in every thread that waits in it.
  void Nudge() ABSL_LOCKS_EXCLUDED(mu_);

  // Instances that wait for work, leaving out those on loan.
  size_t idle_instances() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return idle_.size();
  }
  // Executions by I/O threads so far.
  uint64_t inline_executions() const { return inline_executions_.load(std::memory_order_relaxed); }

  // What adaptive batching has chosen; none without a target.
  std::optional<BatchPlan> adaptive_plan() const ABSL_LOCKS_EXCLUDED(mu_);

  // Ends the model's own batching before the model itself goes. REQUIRES: shut down, and no thread
  // is inside Pull.
  void DropStrategy();

 private:
  // Requests taken out of the queue that no instance will see.
  struct Dropped {
    // Where something fails for want of memory after they have left the queue, they are answered
    // here: released without an answer, they would count as forgotten by the backend.
    ~Dropped() { Answer(); }

    Batch cancelled;
    Batch expired;

    bool empty() const { return cancelled.empty() && expired.empty(); }
    // Answers and releases them. REQUIRES: the mutex is not held.
    void Answer() noexcept;
  };
  // The wait of one instance's thread, inside Pull. Kept when it is over, so that whoever wakes it
  // may do so after letting go of the mutex: at worst the next one that waits here wakes for
  // nothing.
  struct Waiter final : InlineTurn::Loan {
    explicit Waiter(DynamicScheduler* scheduler_in) : scheduler(scheduler_in) {}
    void RunInline(InlineTurn* turn) noexcept override { scheduler->RunOnLoan(this, turn); }

    DynamicScheduler* const scheduler;
    CondVar wake;
    // Guarded by the scheduler's mutex, but constant while on loan.
    BatchExecutor* executor = nullptr;
    const InlineTurn* turn = nullptr;  // that will execute; null unless deferred
    bool on_loan = false;
  };

  // How far an instance's thread goes in one call.
  enum class Step { kPull, kAwait, kLook, kTry };
  // Pull, AwaitDue, HasDue or TryPull. None: due (kAwait, kLook), or not (kTry). An empty batch:
  // shut down, or not due (kLook).
  std::optional<Batch> Next(Step step, BatchExecutor* self, std::optional<Duration> took)
      ABSL_LOCKS_EXCLUDED(mu_);
  // A batch that an instance executes; kept while adaptive batching wants to know how long it
  // takes.
  struct Execution {
    const BatchExecutor* by = nullptr;
    uint64_t units = 0;
    TimePoint begun;
  };
  void BeginExecution(const BatchExecutor* self, const Batch& batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndExecution(const BatchExecutor* self) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // How many requests are due as a batch now; if none, in `wake_at`, when to ask again.
  size_t CountDue(std::optional<TimePoint>* wake_at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A batch if one is due now, otherwise none and, in `wake_at`, when to ask again.
  std::optional<Batch> TryTake(std::optional<TimePoint>* wake_at)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Asks the strategy about entries it has not seen, letting go of the mutex meanwhile. Not about
  // those that cannot join the batch anyhow.
  void AskStrategy() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Tells the strategy that its batch is handed over, letting go of the mutex meanwhile.
  void EndStrategy() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes what was cancelled or has timed out out of the queue and, while there are deadlines,
  // provides for the next one. REQUIRES: nobody asks the strategy. Returns whether the queue
  // changed.
  bool TakeDropped(Dropped* dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What the timer calls.
  void Expire() ABSL_LOCKS_EXCLUDED(mu_);
  // The first request that is queued; null if none is.
  RequestPtr TakeLeft() ABSL_LOCKS_EXCLUDED(mu_);
  // Makes sure that the timer calls at the earliest deadline, if there is one.
  void ArmTimer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Who looks at a request that has just been queued: an instance to be woken, or one whose work
  // the issuing thread does; both null if nobody has to.
  void FindWorker(InlineTurn* turn, TimePoint now, Waiter** wake, Waiter** loan)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether a sleeping instance has to look at what has arrived.
  bool IsDue(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether nothing may go to an instance yet; see DynamicSchedulerOptions.
  bool Holding() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Wait(BatchExecutor* self, std::optional<TimePoint> wake_at)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes an instance that waits off the list, to be woken; the leader if there is one. Null if
  // there is none.
  Waiter* TakeIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WakeOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WakeAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether `executor` is to pull no more; forgets it.
  bool TakeRetired(const BatchExecutor* executor) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // ---- Execution by I/O threads.
  bool MayRunInline(const InlineTurn* turn, TimePoint now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsDeferredTo(const InlineTurn* turn) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // An idle instance, from now on on loan; null if there is none.
  Waiter* Borrow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RunOnLoan(Waiter* loan, InlineTurn* turn) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Answers what was cancelled or has timed out, letting go of the mutex meanwhile.
  void AnswerDropped() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveBack(Waiter* loan) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Clock* const clock_;
  const bool delays_;   // a request may have to wait for others although an instance is idle
  const bool batches_;  // more than one request may run together
  std::unique_ptr<BatchStrategy> strategy_;  // used by whoever set asking_

  mutable Mutex mu_;
  CondVar asking_ended_;
  BatchFormer queue_ ABSL_GUARDED_BY(mu_);
  size_t hold_until_queued_ ABSL_GUARDED_BY(mu_);
  // Cancelled in the queue while it could not change: the strategy was asked.
  std::vector<InferRequest*> to_cancel_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<Timer::Alarm> alarm_ ABSL_GUARDED_BY(mu_);     // null: no time-outs, or shut down
  TimePoint armed_for_ ABSL_GUARDED_BY(mu_) = TimePoint::max();  // max: not armed
  bool asking_ ABSL_GUARDED_BY(mu_) = false;
  bool begun_ ABSL_GUARDED_BY(mu_) = false;  // strategy: Begin without End
  const Waiter* leader_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::vector<Waiter*> idle_ ABSL_GUARDED_BY(mu_);      // wait, and nobody has woken them
  std::vector<Waiter*> deferred_ ABSL_GUARDED_BY(mu_);  // on loan until the end of a turn
  std::vector<std::unique_ptr<Waiter>> spare_waiters_ ABSL_GUARDED_BY(mu_);
  size_t waiters_ ABSL_GUARDED_BY(mu_) = 0;                         // that were made
  std::vector<const BatchExecutor*> retired_ ABSL_GUARDED_BY(mu_);  // that have not pulled since
  uint64_t nudges_ ABSL_GUARDED_BY(mu_) = 0;
  InlinePolicy inline_ ABSL_GUARDED_BY(mu_);
  std::vector<Execution> executions_ ABSL_GUARDED_BY(mu_);  // of each instance; empty: no target
  std::atomic<uint64_t> inline_executions_{0};
  bool admission_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool shut_down_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_DYNAMIC_DYNAMIC_SCHEDULER_H_
