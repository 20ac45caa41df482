// SPDX-License-Identifier: Apache-2.0
// DynamicScheduler: the queue of one model and the batches formed from it; also the default
// scheduler, whose batches are single requests. Thread-safe. Owned by its model, which outlives it.
//
// How a request becomes part of a batch
//
//   1. It arrives. Enqueue puts it into the queue on the thread that brings it. RequestQueue keeps
//      levels of priority and the order of arrival within them, refuses a request whose level is
//      full, and knows every deadline. No thread of the scheduler's own ever runs: instances pull.
//   2. Somebody looks. Enqueue finds out who (FindWorker). An I/O thread executes a short model
//      itself, with an idle instance on loan (InlinePolicy, docs/adr/0004). Otherwise one idle
//      instance is woken, but only if a batch is due with this request.
//   3. Is a batch due? The thread of an instance, inside Next, first drops what was cancelled or
//      has timed out, and asks the model's own batching functions, if it has any, about requests
//      that they have not seen (StrategySession).
//      Then it asks BatchFormer, which walks the queue from
//      its head and adds requests as long as they fit and may share a batch (MayShareBatch).
//      BatchPolicy says when to stop waiting for more: both are functions of queue and time,
//      without lock and clock (batch_policy.h). With a latency target AdaptivePolicy says it
//      instead.
//   4. If a batch is due, the thread leaves with it, and wakes another if requests are left.
//      If none is, it sleeps.
//      Of all idle threads one, the leader, sleeps until the policy wants to be asked again;
//      the others sleep until they are woken (IdleInstances).
//
// A request that is cancelled, or times out, leaves the queue at once, also while all instances
// work: by the thread that cancels, or a thread of the timer.
//
// How to tune it (docs/reference/batching.md has the rules, docs/models/batching.md examples)
//
//   - Without `dynamic_batching` every request runs alone. With it and no delay, an idle instance
//     takes what is queued, so batches grow with the load by themselves. This is the right start.
//   - `max_queue_delay_microseconds` lets an idle instance wait for more.
//     It costs latency at low load, and helps where one large execution is much cheaper than
//     several small ones.
//   - `preferred_batch_size` only where these sizes really run faster; others wait for the delay.
//   - `nereid.target_p99_us` chooses delay and size from what executions take, and excludes both.
//   - `instance_group` counts before delays: with an idle instance there is nothing to batch.
//   - Priorities, `max_queue_size` and time-outs decide what waits and what is refused under
//     overload; they do not make anything faster.
//   - `nereid.inline_execution` switches executions by I/O threads on and off for one model.
//   - nereid_batch_count tells by reason why batches left, and `nereid explain MODEL` how large
//     they were: many `delay_over` with small batches mean that the delay is paid for nothing,
//     many `full` that the model could use a larger max_batch_size.
//
//
// One mutex guards queue, instances and strategy. No scope that holds it calls the backend, the
// strategy, or a client's callback: what a look has found to do comes after the scope.
#ifndef NEREID_SCHEDULING_DYNAMIC_DYNAMIC_SCHEDULER_H_
#define NEREID_SCHEDULING_DYNAMIC_DYNAMIC_SCHEDULER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/timer.h"
#include "infer/inline_turn.h"
#include "infer/request_ptr.h"
#include "scheduling/adaptive/adaptive_policy.h"
#include "scheduling/batch.h"
#include "scheduling/deadline_alarm.h"
#include "scheduling/dynamic/batch_former.h"
#include "scheduling/dynamic/inline_policy.h"
#include "scheduling/scheduler.h"

namespace nereid {

// ---- The parts.

// Requests that were taken out of a queue and that no instance will see. Filled under a scheduler's
// mutex, answered without it. Thread-compatible; owned by the thread that took them out.
struct DroppedRequests {
  DroppedRequests() = default;
  // If memory runs out after the requests have left the queue, they are answered here. Released
  // without an answer, they would count as forgotten by the backend.
  ~DroppedRequests() { Answer(); }
  DroppedRequests(const DroppedRequests&) = delete;
  DroppedRequests& operator=(const DroppedRequests&) = delete;

  bool empty() const { return cancelled.empty() && expired.empty(); }
  // Answers and releases them. REQUIRES: no mutex of a scheduler is held.
  void Answer() noexcept;

  std::vector<RequestPtr> cancelled;
  std::vector<RequestPtr> expired;
};

// Asks a model's BatchStrategy about the batch that forms at the head of a queue: Begin, Include
// for each request, End; again from Begin whenever another batch forms.
//
// Thread-compatible: owned by a scheduler and used under its mutex, except for calls of the
// strategy (Call::Make). From a call that was handed out until Next hands out no more, `asking` is
// true: only that thread calls the strategy, and nothing may leave the queue.
class StrategySession {
 public:
  // A call of the strategy that a thread has to make without the mutex, and then give to Next.
  class Call {
   public:
    // Whether there is anything to call.
    explicit operator bool() const { return strategy_ != nullptr; }
    // Does nothing if there is nothing to call. REQUIRES: the scheduler's mutex is not held.
    void Make();

   private:
    friend class StrategySession;

    BatchStrategy* strategy_ = nullptr;
    bool end_ = false;                 // a batch ends first
    bool begin_ = false;               // then one begins
    InferRequest* request_ = nullptr;  // then this one is asked about; null: none is
    uint64_t forming_ = 0;             // of the queue
    bool joins_ = false;               // what the strategy has said
  };
  // The strategy and whether a batch of it has to be ended, which the destructor does. To be
  // destroyed without the mutex.
  class Remains {
   public:
    Remains() = default;
    Remains(std::unique_ptr<BatchStrategy> strategy, bool begun)
        : strategy_(std::move(strategy)), begun_(begun) {}
    Remains(Remains&&) = default;
    Remains& operator=(Remains&&) = default;
    ~Remains() {
      if (strategy_ != nullptr && begun_) strategy_->End();
    }

   private:
    std::unique_ptr<BatchStrategy> strategy_;
    bool begun_ = false;
  };

  // `strategy` may be null: then nothing is ever asked.
  explicit StrategySession(std::unique_ptr<BatchStrategy> strategy)
      : strategy_(std::move(strategy)) {}
  StrategySession(const StrategySession&) = delete;
  StrategySession& operator=(const StrategySession&) = delete;

  bool has_strategy() const { return strategy_ != nullptr; }
  // A thread is calling the strategy.
  bool asking() const { return asking_; }

  // Asks about the first request of `queue` that has not been judged, unless it cannot join the
  // batch anyway. REQUIRES: not asking.
  [[nodiscard]] Call Ask(BatchFormer* queue);
  // The formed batch is handed over: tells the strategy, if it has seen the batch. REQUIRES: not
  // asking.
  [[nodiscard]] Call End();
  // `made` was made: judges the request that it was about, and asks about the next one. If there is
  // nothing more to ask, threads that wait for work have to look again.
  [[nodiscard]] Call Next(const Call& made, BatchFormer* queue);
  // Nothing more is asked; waits for a call that is under way.
  void Close(Mutex* mu) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Gives up the strategy. REQUIRES: closed.
  [[nodiscard]] Remains Drop() { return {std::move(strategy_), std::exchange(begun_, false)}; }

 private:
  std::unique_ptr<BatchStrategy> strategy_;  // called by the thread that has a Call
  CondVar asking_ended_;
  bool asking_ = false;
  bool begun_ = false;  // Begin was called, and End not yet
  bool closed_ = false;
};

// The instances of a model whose threads wait for a batch. Decides which of them
// waits with a deadline, is woken, is lent to an I/O thread, or has to leave.
//
// Thread-compatible: owned by a scheduler and used under its mutex, which Wait releases. Marked
// members need no mutex.
//
// Of the threads that wait while a batch forms, one is the leader and waits with a deadline; the
// others sleep until they are woken. An instance may be lent to the I/O thread that brings a
// request, while its own thread sleeps on (infer/inline_turn.h).
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

// ---- The scheduler.

struct DynamicSchedulerOptions {
  // Tells when a request has timed out; null: time-outs are noticed when an instance pulls.
  // Outlives the scheduler's Shutdown.
  Timer* timer = nullptr;
  // The instances of a model with dynamic batching get nothing until this many requests were in the
  // queue at the same time, or admission was closed. For clients' tests.
  size_t hold_until_queued = 0;
  // Batches are formed by an AdaptivePolicy with this target; zero: as the configuration says. Not
  // with a strategy, and only for instances that call Pull.
  Duration target{0};
};

class DynamicScheduler final : public Scheduler,
                               public InstanceSource,
                               private IdleInstances::Borrower {
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
  bool AwaitDue(BatchExecutor* self) override ABSL_LOCKS_EXCLUDED(mu_);
  bool HasDue() override ABSL_LOCKS_EXCLUDED(mu_);
  std::optional<Batch> TryPull() override ABSL_LOCKS_EXCLUDED(mu_);
  std::optional<Batch> PullNow(BatchExecutor* self, std::optional<Duration> took,
                               std::optional<TimePoint>* wake_at) override ABSL_LOCKS_EXCLUDED(mu_);
  void PassOn() override ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    WakeIfQueued();
  }

  InstanceSource* source(uint32_t number) override { return this; }
  bool instances_may_change() const override { return true; }
  void RemoveInstance(const BatchExecutor* executor) override ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    idle_.RemoveInstance(executor);
  }
  void Nudge() override ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    ++nudges_;
    idle_.WakeAll();
  }

  // Instances that wait for work, leaving out those on loan.
  size_t idle_instances() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return idle_.size();
  }
  uint64_t inline_executions() const override {
    return inline_executions_.load(std::memory_order_relaxed);
  }
  void DescribeMetrics(MetricSink* sink) const override ABSL_LOCKS_EXCLUDED(mu_);

  // What adaptive batching has chosen; none without a target.
  std::optional<BatchPlan> adaptive_plan() const ABSL_LOCKS_EXCLUDED(mu_);

  void DropStrategy() override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // What an instance's thread wants: a batch, to wait for one; only to wait until one is due; only
  // to know whether one is due; a batch if one is due now.
  enum class Step { kPull, kAwait, kLook, kTry };
  // Pull, AwaitDue, HasDue, or TryPull and PullNow.
  NextBatch Next(Step step, BatchExecutor* self, std::optional<Duration> took)
      ABSL_LOCKS_EXCLUDED(mu_);
  // One look of Next at the queue. The result counts unless the thread has to do something without
  // the mutex first: to make `*call`, or to answer `*dropped`. A batch comes with a call that
  // follows it. `nudges`: nudges_ when the thread began to look.
  NextBatch Look(Step step, BatchExecutor* self, uint64_t nudges, StrategySession::Call* call,
                 DroppedRequests* dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // For adaptive batching: `self` executes `batch` from now on, and has executed it.
  void BeginExecution(const BatchExecutor* self, const Batch& batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndExecution(const BatchExecutor* self, Duration took) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The batch that is due at `now`, with its reason; if none is, when to ask again.
  BatchDecision Decide(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A batch if one is due now, otherwise NotDue. `idle` is the reason where nothing was to be
  // waited for. `most`: so many requests that run one by one are taken at once.
  NextBatch TryTake(BatchReason idle, size_t most) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes cancelled and timed-out requests out of the queue and, while there are deadlines, sets
  // the alarm for the next one. Returns whether the queue changed. REQUIRES: no thread asks the
  // strategy.
  bool TakeDropped(DroppedRequests* dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Called by the timer.
  void Expire() ABSL_LOCKS_EXCLUDED(mu_);
  // The first request that is queued; null if none is.
  RequestPtr TakeLeft() ABSL_LOCKS_EXCLUDED(mu_);
  // Finds the instance that looks at a request that has just been queued: one to be woken, or one
  // whose work the issuing thread does. Both are null if none has to look.
  void FindWorker(InlineTurn* turn, TimePoint now, IdleInstances::Waiter** wake,
                  IdleInstances::Waiter** loan) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether a sleeping instance has to look at what has arrived.
  bool IsDue(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether nothing may go to an instance yet; see DynamicSchedulerOptions.
  bool Holding() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Lets another instance look at the queue if any request is queued.
  void WakeIfQueued() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (!queue_.empty()) idle_.WakeOne();
  }

  // ---- Execution by I/O threads.
  bool MayRunInline(const InlineTurn* turn, TimePoint now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RunOnLoan(IdleInstances::Waiter* loan, InlineTurn* turn) noexcept override
      ABSL_LOCKS_EXCLUDED(mu_);
  // The next batch that RunOnLoan executes with `loan`; none: the loan has ended. `took`: how long
  // the last one took; none: the loan begins.
  std::optional<Batch> NextOnLoan(IdleInstances::Waiter* loan, InlineTurn* turn,
                                  std::optional<Duration> took, DroppedRequests* dropped) noexcept
      ABSL_LOCKS_EXCLUDED(mu_);

  Clock* const clock_;
  const bool delays_;   // a request may have to wait for others although an instance is idle
  const bool batches_;  // more than one request may run together
  const bool queues_;   // a mere queue: neither configuration nor model say anything about batches

  mutable Mutex mu_;
  StrategySession strategy_ ABSL_GUARDED_BY(mu_);
  BatchFormer queue_ ABSL_GUARDED_BY(mu_);
  IdleInstances idle_ ABSL_GUARDED_BY(mu_);
  size_t hold_until_queued_ ABSL_GUARDED_BY(mu_);
  DeadlineAlarm alarm_ ABSL_GUARDED_BY(mu_);  // not started: nothing times out
  uint64_t nudges_ ABSL_GUARDED_BY(mu_) = 0;
  InlinePolicy inline_ ABSL_GUARDED_BY(mu_);
  ExecutionMeter meter_ ABSL_GUARDED_BY(mu_);  // for a target
  BatchReasonCounts reasons_ ABSL_GUARDED_BY(mu_);
  std::atomic<uint64_t> inline_executions_{0};
  // A request with tensors on GPUs has come: from then on no I/O thread executes, because it could
  // get such a request out of the queue.
  bool touches_gpus_ ABSL_GUARDED_BY(mu_) = false;
  bool admission_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool shut_down_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_DYNAMIC_DYNAMIC_SCHEDULER_H_
