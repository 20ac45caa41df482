// Scheduler: decides when the requests of one model run and in which batches. BatchSource: where
// an idle instance takes its next batch. Both thread-safe.
#ifndef NEREID_SCHEDULING_SCHEDULER_H_
#define NEREID_SCHEDULING_SCHEDULER_H_

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "infer/request_ptr.h"
#include "model/correlation_id.h"
#include "observe/metrics/metric_sink.h"

namespace nereid {

// Requests that run together, oldest first. Empty: there is nothing more to come, stop pulling.
using Batch = std::vector<RequestPtr>;

// Who executes batches: an instance, one batch at a time. Called by the thread that holds it: its
// own, or one that it is on loan to while its own waits inside Pull.
class BatchExecutor {
 public:
  virtual ~BatchExecutor() = default;
  // Executes a batch and returns how long that took, without what this thread spent on sending
  // answers. Every request is answered and released, now or later, whatever happens; the next batch
  // may follow when this returns.
  virtual Duration Execute(Batch batch) = 0;
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Blocks an instance's thread until a batch is due or the scheduler is shut down. Meanwhile
  // `self` (null: nothing) may be lent to a thread that executes for it. `took`: how long the batch
  // that this thread pulled last took; none before the first.
  virtual Batch Pull(BatchExecutor* self, std::optional<Duration> took) = 0;
};

// The same in two steps, for instances that need something else before they take a batch.
class StagedSource {
 public:
  virtual ~StagedSource() = default;
  // Blocks until a batch is due, without taking it: another instance may. False once the scheduler
  // is shut down.
  virtual bool AwaitDue() = 0;
  // Whether a batch is due now. Does not wait.
  virtual bool HasDue() = 0;
  // A batch if one is due now; an empty one once the scheduler is shut down. Does not wait.
  virtual std::optional<Batch> TryPull() = 0;
  // The caller, to whom AwaitDue said that a batch is due, cannot take it soon: wakes another
  // instance that waits, if there is one.
  virtual void PassOn() = 0;
};

// Where one instance takes its batches, either way.
class InstanceSource : public BatchSource, public StagedSource {};

// What every scheduler does, and below that what some do: of those that do not, the defaults say
// so. Models ask the interface, and know no scheduler by name (make_scheduler.h does).
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // Takes over `*request` if and only if it returns OK. UNAVAILABLE: admission is closed, or the
  // queue is full, which it has then counted as a failure of the model. Never waits; but a request
  // with an InlineTurn may be executed before this returns.
  virtual absl::Status Enqueue(RequestPtr* request) = 0;
  // The first door: from now on Enqueue refuses all but parts of requests that were let in
  // elsewhere (InferRequest::MakePart); what is queued still runs.
  virtual void CloseAdmission() = 0;
  // `request`, which the caller keeps alive, was cancelled (its stream says so): answered and
  // released if it is queued here. A request that is cancelled before it is queued needs no call.
  // Never blocks.
  virtual void OnCancel(InferRequest* request) = 0;
  // Pull returns empty batches from now on. What is still queued is answered UNAVAILABLE.
  virtual void Shutdown() = 0;

  // ---- Instances, for a scheduler that gives batches to any.
  // Where instance `number` of those that take requests pulls. Null: the scheduler has no
  // instances.
  virtual InstanceSource* source(uint32_t number) { return nullptr; }
  // Whether instances may come and go while it serves: then what `source` gives is the same for
  // all.
  virtual bool instances_may_change() const { return false; }
  // `executor` gets no more batches: its thread's Pull returns an empty one, once it has executed
  // what it has. What is queued stays for the others. REQUIRES: instances may change.
  virtual void Retire(const BatchExecutor* executor) {}
  // AwaitDue returns in every thread that waits in it. REQUIRES: instances may change.
  virtual void Nudge() {}
  // Ends the model's own batching before the model itself goes. REQUIRES: shut down, and no thread
  // is inside Pull.
  virtual void DropStrategy() {}

  // ---- Sequences.
  // Whether further requests of `id` belong to a sequence that lives here.
  virtual bool HasSequence(const CorrelationId& id) const { return false; }
  // Sequences that have a slot. None: the scheduler knows no sequences.
  virtual std::optional<size_t> sequences_in_slots() const { return std::nullopt; }

  // ---- Reports.
  // Executions by I/O threads so far.
  virtual uint64_t inline_executions() const { return 0; }
  // What the metrics page shows of it. Whoever overrides this calls it first.
  virtual void DescribeMetrics(MetricSink* sink) const;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SCHEDULER_H_
