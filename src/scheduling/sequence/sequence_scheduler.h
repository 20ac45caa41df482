// SPDX-License-Identifier: Apache-2.0
// SequenceScheduler: the scheduler of a model that keeps state between the requests of a sequence.
// Thread-safe. Owned by its model, which outlives it.
//
// A sequence is given a slot of an instance when it begins, or waits in the backlog for one; that
// is decided at Enqueue, by the slot table. An instance that yields gets no new sequence; if the
// others have no slot, the sequence waits in the backlog until one of them has, or the instance no
// longer yields. Every instance pulls from a source of its own. One mutex guards table, backlog and
// sources. A slot is free again when the last request of its
// sequence is released, not when it is answered: the backend may go on with it for long.
//
// A live sequence is inside its model's lifetime gate: a model that is unloaded waits for its
// sequences, whose requests still pass when admission is closed.
#ifndef NEREID_SCHEDULING_SEQUENCE_SEQUENCE_SCHEDULER_H_
#define NEREID_SCHEDULING_SEQUENCE_SEQUENCE_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/timer.h"
#include "infer/request_ptr.h"
#include "scheduling/batch.h"
#include "scheduling/deadline_alarm.h"
#include "scheduling/scheduler.h"
#include "scheduling/sequence/sequence_requests.h"
#include "scheduling/sequence/sequence_strategy.h"
#include "scheduling/sequence/sequence_tables.h"

namespace nereid {

struct SequenceSchedulerOptions {
  // Tells when a sequence was idle for too long, or has waited too long in the backlog; null: no
  // sequence is ever ended for that. Outlives the scheduler's Shutdown.
  Timer* timer = nullptr;
  // Instances get nothing until this many requests were in the queues of sequences with slots, and
  // at the same time this many in the backlog, or admission was closed. For clients' tests.
  size_t hold_until_queued = 0;
  size_t hold_until_backlogged = 0;
};

class SequenceScheduler final : public Scheduler, private ReleaseWatcher {
 public:
  // Where one instance takes its batches. Owned by the scheduler.
  class Source final : public InstanceSource {
   public:
    Source(SequenceScheduler* scheduler, uint32_t instance)
        : scheduler_(scheduler), instance_(instance) {}
    // Never lends the instance.
    Batch Pull(BatchExecutor* self, std::optional<Duration> took) override;
    bool AwaitDue(BatchExecutor* self) override;
    bool HasDue() override;
    std::optional<Batch> TryPull() override;
    std::optional<Batch> PullNow(BatchExecutor* self, std::optional<Duration> took,
                                 std::optional<TimePoint>* wake_at) override;
    // Its sequences are this instance's: no other can take their requests.
    void PassOn() override {}
    bool shared() const override { return false; }

   private:
    SequenceScheduler* const scheduler_;
    const uint32_t instance_;
  };

  // For `instances` >= 1 instances that take requests. `config` outlives this.
  SequenceScheduler(const CompiledModel* config, uint32_t instances, Clock* clock,
                    const SequenceSchedulerOptions& options = {});
  ~SequenceScheduler() override;

  // INVALID_ARGUMENT: the request belongs to no sequence, or to one that has not begun.
  // UNAVAILABLE: it begins one, and admission is closed; or the scheduler is shut down.
  absl::Status Enqueue(RequestPtr* request) override ABSL_LOCKS_EXCLUDED(mu_);
  // New sequences are refused from now on; those that live go on.
  void CloseAdmission() override ABSL_LOCKS_EXCLUDED(mu_);
  // The whole sequence ends: what is queued of it is answered CANCELLED.
  void OnCancel(InferRequest* request) override ABSL_LOCKS_EXCLUDED(mu_);
  void Shutdown() override ABSL_LOCKS_EXCLUDED(mu_);

  Source* source(uint32_t instance) override { return &lanes_[instance]->source; }
  // Sequences in the backlog get the slots of instances that no longer yield. No instance's thread
  // has to look again: none may leave the requests of its sequences to others.
  void Nudge() override ABSL_LOCKS_EXCLUDED(mu_);
  bool HasSequence(const CorrelationId& id) const override ABSL_LOCKS_EXCLUDED(mu_);
  // Sequences that have a slot, and those in the backlog.
  size_t live_sequences() const ABSL_LOCKS_EXCLUDED(mu_);
  std::optional<size_t> sequences_in_slots() const override ABSL_LOCKS_EXCLUDED(mu_);
  void DescribeMetrics(MetricSink* sink) const override ABSL_LOCKS_EXCLUDED(mu_);
  size_t backlogged_sequences() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using Sequences = std::map<uint64_t, std::unique_ptr<LiveSequence>>;  // by number
  using Requests = std::list<QueuedRequest>;
  // Work that has to wait until the mutex is released. Filled by moving existing objects, which
  // takes no memory.
  struct Aftermath {
    Aftermath() = default;
    Aftermath(Aftermath&&) = default;
    Aftermath& operator=(Aftermath&&) = default;
    // The destructor answers, too, if something throws after requests have left their queue.
    ~Aftermath() { Finish(); }

    Sequences ended;
    Requests cancelled;
    Requests expired;
    Requests stopped;

    bool empty() const {
      return ended.empty() && cancelled.empty() && expired.empty() && stopped.empty();
    }
    // Answers and releases the requests, and destroys the sequences.
    void Finish() noexcept;
  };
  // One instance.
  struct Lane {
    Lane(SequenceScheduler* scheduler, uint32_t instance,
         std::unique_ptr<SequenceStrategy> strategy_in)
        : source(scheduler, instance), strategy(std::move(strategy_in)) {}

    Source source;
    const std::unique_ptr<SequenceStrategy> strategy;  // guarded by the scheduler's mutex
    CondVar wake;                                      // its thread waits inside Pull
    // The instance, once it has pulled. Guarded by the scheduler's mutex; valid until the scheduler
    // is shut down.
    const BatchExecutor* executor = nullptr;
  };
  // What an instance's thread wants: a batch, to wait for one; only to wait until one is due; only
  // to know whether one is due; a batch if one is due now.
  enum class Step { kPull, kAwait, kLook, kTry };
  // What the strategy of an instance has given out, and how it came about.
  struct TakenPicks {
    std::vector<SequencePick> picks;
    BatchOrigin origin;
  };
  enum class Why { kCancelled, kExpired, kStopped };

  // ---- ReleaseWatcher.
  void OnRelease(InferRequest* request) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnReschedule(RequestPtr request) override ABSL_LOCKS_EXCLUDED(mu_);

  // Pull, AwaitDue, HasDue, or TryPull and PullNow of an instance. `self`: as there; null: as
  // before.
  NextBatch Next(uint32_t instance, const BatchExecutor* self, Step step) ABSL_LOCKS_EXCLUDED(mu_);
  // The batch that is due now, or NotDue. Takes it only for kPull and kTry, otherwise says
  // BatchDue.
  using Due = std::variant<TakenPicks, BatchDue, NotDue>;
  Due TakeDue(Lane* lane, Step step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Makes a batch: fills gaps, attaches controls and states. Empty if that failed; then all
  // requests are answered.
  Batch Prepare(std::vector<SequencePick> picks) ABSL_LOCKS_EXCLUDED(mu_);
  // The requests as the backend gets them, and synthetic ones for the gaps.
  absl::Status PreparePicks(std::vector<SequencePick>* picks);
  absl::Status PrepareRequest(const SequencePick& pick) const;

  absl::Status CheckRequest(const InferRequest& request) const;
  LiveSequence* Find(const CorrelationId& id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Gives the request an id of its own, as the first of a sequence.
  void GenerateId(InferRequest* request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A slot of an instance that does not yield, if there is one. If this throws, none is taken.
  std::optional<SlotLease> TakeSlot() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Gives the slots that are free to the sequences that have waited longest.
  void EmptyBacklog(TimePoint now) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // If one of the next two functions throws, nothing has changed.
  LiveSequence* Begin(InferRequest* first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Append(LiveSequence* sequence, RequestPtr* request, TimePoint now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // `sequence` has a slot, and may have a request that its instance can take.
  void Offer(LiveSequence* sequence, TimePoint now) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // `sequence` is idle from `now` on.
  void Watch(LiveSequence* sequence, TimePoint now) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // There was no memory to offer or to watch a sequence, or to give it a slot: a little later all
  // sequences are checked again.
  void LookAgain(TimePoint now) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // No more requests of `sequence` are accepted.
  void Close(LiveSequence* sequence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Makes a synthetic request that tells the model of the end, in a list of its own.
  Requests MakeEnd(LiveSequence* sequence, TimePoint now);
  // Queues what MakeEnd made. REQUIRES: the sequence was closed.
  void QueueEnd(LiveSequence* sequence, Requests end, TimePoint now) noexcept
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends `sequence`, all of whose requests are released, and gives its slot to the next one.
  void End(LiveSequence* sequence, TimePoint now, Aftermath* aftermath) noexcept
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends `sequence` early: answers its queued requests, and tells the model if the model has seen
  // the sequence. Throws if there is no memory for the request that tells the model; then nothing
  // has changed. With kStopped the model is not told, and Drop does not throw.
  void Drop(LiveSequence* sequence, Why why, TimePoint now, Aftermath* aftermath)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Like Drop, for a request that was cancelled before the scheduler had it. If the sequence cannot
  // be dropped, the model gets the request and sees that it is cancelled.
  void TryDropCancelled(LiveSequence* sequence, TimePoint now, Aftermath* aftermath) noexcept
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Drops the next sequence after number `*last`, those in the backlog first. False if there is
  // none.
  bool StopNext(uint64_t* last) ABSL_LOCKS_EXCLUDED(mu_);
  // Undoes what the scheduler has changed of a request that goes back to its maker.
  void Restore(LiveSequence* sequence, InferRequest* request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Called by the timer.
  void OnTimer() ABSL_LOCKS_EXCLUDED(mu_);
  void ArmTimer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Holding() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WakeAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Lane& LaneOf(const LiveSequence& sequence) { return *lanes_[sequence.lease->instance]; }

  const CompiledModel* const config_;
  Clock* const clock_;
  const SequenceControls controls_;
  std::vector<std::unique_ptr<Lane>> lanes_;

  mutable Mutex mu_;
  SlotTable slots_ ABSL_GUARDED_BY(mu_);
  Backlog backlog_ ABSL_GUARDED_BY(mu_);
  IdleReaper reaper_ ABSL_GUARDED_BY(mu_);
  Sequences sequences_ ABSL_GUARDED_BY(mu_);
  std::map<CorrelationId, LiveSequence*> open_ ABSL_GUARDED_BY(mu_);  // not closed
  uint64_t last_number_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t last_generated_ ABSL_GUARDED_BY(mu_) = 0;
  size_t hold_until_queued_ ABSL_GUARDED_BY(mu_);
  size_t hold_until_backlogged_ ABSL_GUARDED_BY(mu_);
  // Left by a thread that must not answer requests. The next instance that looks for work answers
  // them.
  Aftermath left_ ABSL_GUARDED_BY(mu_);
  BatchReasonCounts reasons_ ABSL_GUARDED_BY(mu_);
  DeadlineAlarm alarm_ ABSL_GUARDED_BY(mu_);
  TimePoint look_again_ ABSL_GUARDED_BY(mu_) = TimePoint::max();  // max: nothing was missed
  bool admission_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool shut_down_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SEQUENCE_SEQUENCE_SCHEDULER_H_
