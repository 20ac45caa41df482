// SPDX-License-Identifier: Apache-2.0
// Scheduler: decides when the requests of one model run and in which batches. BatchSource: gives
// an idle instance its next batch. Both are thread-safe.
//
// What stands on the other side: BatchExecutor, an instance that executes batches, and
// BatchStrategy, a model's own batching functions. SchedulerLayer is a scheduler in front of
// another one. dynamic/dynamic_scheduler.h tells how a request becomes part of a batch.
#ifndef NEREID_SCHEDULING_SCHEDULER_H_
#define NEREID_SCHEDULING_SCHEDULER_H_

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "infer/request_ptr.h"
#include "model/correlation_id.h"
#include "observe/metrics/metric_sink.h"
#include "scheduling/batch.h"

namespace nereid {

// A model's own say in what goes into a batch (the TRITONBACKEND_ModelBatch* functions). Used by
// one thread at a time, never under a lock.
class BatchStrategy {
 public:
  virtual ~BatchStrategy() = default;
  // A new batch begins to form.
  virtual void Begin() = 0;
  // Whether `request` shall join the batch that forms.
  virtual bool Include(InferRequest* request) = 0;
  // The batch is closed.
  virtual void End() = 0;
};

// An instance as schedulers see it: executes one batch at a time. Called by the thread that holds
// it: its own thread, or one that has it on loan while its own thread waits inside Pull.
class BatchExecutor {
 public:
  virtual ~BatchExecutor() = default;
  // Executes a batch and returns how long that took, without the time that this thread spent on
  // sending answers. Every request is answered and released, now or later, even on errors. The next
  // batch may follow when this call returns.
  virtual Duration Execute(Batch batch) = 0;
  // How many separate requests one call of Execute may get, if the model executes requests one by
  // one.
  virtual uint32_t most_separate() const { return 1; }
  // Whether another thread than its own may have it on loan now. May change at any time.
  virtual bool lendable() const { return true; }
  // Whether it leaves the work to the model's other instances for now, because it could only fail
  // and one of them can execute. May change at any time; Scheduler::Nudge follows.
  virtual bool yields() const { return false; }
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Blocks an instance's thread until a batch is due or the scheduler is shut down. Meanwhile
  // `self` may be lent to another thread that executes with it (null: nothing to lend). `took`: how
  // long the batch took that this thread pulled last; none before the first batch.
  virtual Batch Pull(BatchExecutor* self, std::optional<Duration> took) = 0;
};

// A BatchSource in two steps, for instances that need something else before they take a batch.
class StagedSource {
 public:
  virtual ~StagedSource() = default;
  // Blocks until a batch is due for `self` (null: an instance that never yields), without taking
  // it: another instance may. False once the scheduler is shut down.
  virtual bool AwaitDue(BatchExecutor* self) = 0;
  // Whether a batch is due now. Does not wait.
  virtual bool HasDue() = 0;
  // A batch if one is due now; an empty one once the scheduler is shut down. Does not wait.
  virtual std::optional<Batch> TryPull() = 0;
  // The caller, to whom AwaitDue said that a batch is due, cannot take it soon: wakes another
  // instance that waits, if there is one.
  virtual void PassOn() = 0;
  // Whether another instance can take what is due. If not, an instance that yields takes it all the
  // same.
  virtual bool shared() const { return true; }
};

// What a scheduler has found when it looked for an instance's next batch: the batch, or one of
// these.
struct BatchDue {};  // there is one, which was not to be taken
struct NotDue {
  std::optional<TimePoint> due_at;  // if nothing else happens; none: something has to happen first
};
struct Closed {};  // no further batch will come
using NextBatch = std::variant<Batch, BatchDue, NotDue, Closed>;

// The source of one instance's batches, for either way of pulling.
class InstanceSource : public BatchSource, public StagedSource {
 public:
  // Pull without the wait: a batch if one is due now, an empty one once the scheduler is shut down,
  // otherwise none; then `wake_at` is when one will be due if nothing else happens, if ever. `self`
  // is not lent. For a thread that plays several instances (simulation/).
  virtual std::optional<Batch> PullNow(BatchExecutor* self, std::optional<Duration> took,
                                       std::optional<TimePoint>* wake_at) = 0;

 protected:
  // `next` as Pull returns it. REQUIRES: a batch, or closed.
  static Batch AsPulled(NextBatch next) {
    Batch* const batch = std::get_if<Batch>(&next);
    return batch == nullptr ? Batch() : std::move(*batch);
  }
  // `next` as TryPull and PullNow return it. REQUIRES: a batch was to be taken.
  static std::optional<Batch> AsTried(NextBatch next) {
    if (std::holds_alternative<NotDue>(next)) return std::nullopt;
    return AsPulled(std::move(next));
  }
};

// First the functions of every scheduler, then those that only some schedulers support, with
// defaults for the others. Models use this interface and know no scheduler by name
// (make_scheduler.h does).
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // Takes over `*request` if and only if it returns OK. UNAVAILABLE: admission is closed, or the
  // queue is full, which the scheduler has then counted as a failure of the model. Never waits, but
  // a request with an InlineTurn may be executed before this call returns.
  virtual absl::Status Enqueue(RequestPtr* request) = 0;
  // From now on Enqueue refuses all requests except parts of requests that were admitted elsewhere
  // (InferRequest::MakePart). Queued requests still run.
  virtual void CloseAdmission() = 0;
  // `request`, which the caller keeps alive, was cancelled (its stream says so). Answers and
  // releases it if it is queued here. A request that is cancelled before it is queued needs no
  // call. Never blocks.
  virtual void OnCancel(InferRequest* request) = 0;
  // Pull returns empty batches from now on. What is still queued is answered UNAVAILABLE.
  virtual void Shutdown() = 0;

  // ---- Instances, for schedulers that give batches to instances.
  // The source of instance `number`, counting only instances that take requests. Null: the
  // scheduler has no instances.
  virtual InstanceSource* source(uint32_t number) { return nullptr; }
  // Whether instances may come and go while the scheduler serves. If so, `source` returns the same
  // source for all.
  virtual bool instances_may_change() const { return false; }
  // `executor` gets no more batches: once it has executed its present batch, its thread's Pull
  // returns an empty one. Queued requests stay for the other instances. REQUIRES: instances may
  // change.
  virtual void RemoveInstance(const BatchExecutor* executor) {}
  // An instance may yield now, or no longer: makes every thread that waits in Pull or AwaitDue look
  // again, and AwaitDue return. Where an instance cannot do another's work, only what belongs to no
  // instance yet is divided anew.
  virtual void Nudge() {}
  // Ends the model's own batching before the model itself goes. REQUIRES: shut down, and no thread
  // is inside Pull.
  virtual void DropStrategy() {}

  // ---- Sequences.
  // Whether further requests of `id` belong to a sequence that lives here.
  virtual bool HasSequence(const CorrelationId& id) const { return false; }
  // The number of sequences that have a slot. None: the scheduler has no sequences.
  virtual std::optional<size_t> sequences_in_slots() const { return std::nullopt; }

  // ---- Reports.
  // Executions by I/O threads so far.
  virtual uint64_t inline_executions() const { return 0; }
  // What the metrics page shows of the scheduler. An override calls this function first.
  virtual void DescribeMetrics(MetricSink* sink) const;
};

// A scheduler in front of another one, which it owns. Functions that a layer does not override are
// passed to the inner scheduler. Thread-safe.
class SchedulerLayer : public Scheduler {
 public:
  explicit SchedulerLayer(std::unique_ptr<Scheduler> inner) : inner_(std::move(inner)) {}

  void CloseAdmission() override { inner_->CloseAdmission(); }
  void OnCancel(InferRequest* request) override { inner_->OnCancel(request); }
  void Shutdown() override { inner_->Shutdown(); }

  InstanceSource* source(uint32_t number) override { return inner_->source(number); }
  bool instances_may_change() const override { return inner_->instances_may_change(); }
  void RemoveInstance(const BatchExecutor* executor) override { inner_->RemoveInstance(executor); }
  void Nudge() override { inner_->Nudge(); }
  void DropStrategy() override { inner_->DropStrategy(); }
  bool HasSequence(const CorrelationId& id) const override { return inner_->HasSequence(id); }
  std::optional<size_t> sequences_in_slots() const override { return inner_->sequences_in_slots(); }
  uint64_t inline_executions() const override { return inner_->inline_executions(); }
  void DescribeMetrics(MetricSink* sink) const override { inner_->DescribeMetrics(sink); }

 protected:
  Scheduler& inner() const { return *inner_; }

 private:
  const std::unique_ptr<Scheduler> inner_;
};

// ---- The errors with which schedulers refuse requests. Clients rely on the texts.
inline constexpr char kStoppingText[] =
    "Server is stopping, scheduler for model has stopped accepting new inference requests";

// UNAVAILABLE: admission is closed, or the scheduler is shut down.
absl::Status StoppingError(const InferRequest& request);
// UNAVAILABLE: the request finds its level of the queue full. Counts it as a failure of the model.
absl::Status RefuseFull(const InferRequest& request, TimePoint now);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SCHEDULER_H_
