// SPDX-License-Identifier: Apache-2.0
// Batch: requests that run together, why they left their queue when they did, and what is
// remembered of their execution.
#ifndef NEREID_SCHEDULING_BATCH_H_
#define NEREID_SCHEDULING_BATCH_H_

#include <absl/types/span.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/export.h"
#include "infer/request_ptr.h"
#include "observe/metrics/metric_sink.h"

namespace nereid {

class FlightRecorder;
struct BatchRecord;

// Why a batch left its queue. docs/reference/batching.md says for each reason when it is given.
enum class BatchReason : uint8_t {
  kFull,           // the next request would not fit, or none would
  kPreferredSize,  // a preferred size was reached, or the largest one was passed
  kDelayOver,      // the oldest request had waited for the queue delay
  kIdleInstance,   // an instance was idle, and nothing was to be waited for
  kShapeChange,    // the next request's shape forbids that it joins
  kTarget,         // adaptive batching: a larger batch would miss the target
  kStrategy,       // the model's own batching strategy closed the batch
  kEndOfTurn,      // the thread that brought the requests executes them
  kSequenceSlots,  // enough sequences with a slot had a request
  kNotBatched,     // the model executes requests one by one
};
inline constexpr size_t kBatchReasons = 10;

// For the label `reason` of the metric.
NEREID_API const char* NameOf(BatchReason reason);

// How many batches of a model version left for each reason. Thread-compatible: guarded by the
// scheduler's mutex.
class BatchReasonCounts {
 public:
  void Add(BatchReason reason, uint64_t batches = 1) {
    counts_[static_cast<size_t>(reason)] += batches;
  }
  // Only reasons that have occurred, so that the page stays small.
  void DescribeMetrics(MetricSink* sink) const;

 private:
  std::array<uint64_t, kBatchReasons> counts_{};
};

// How a batch came to an instance.
struct BatchOrigin {
  BatchReason why = BatchReason::kNotBatched;
  uint64_t pulled_ns = 0;  // when it left the queue, of the steady clock; 0: it was in no queue
  uint64_t staged_ns = 0;  // since when it had waited for resources; 0: it had not
  bool by_caller = false;  // executed by a thread that has the instance on loan
  bool separate = false;   // each request is a batch of its own, to be executed one after another
};

// Requests that run together, oldest first, unless they are separate. Empty: no further batch will
// come, stop pulling.
class Batch : public std::vector<RequestPtr> {
 public:
  using std::vector<RequestPtr>::vector;

  BatchOrigin origin;
};

// Begins the record of an execution that starts at `start_ns` (of the steady clock) by instance
// `shard` of the model, and notes the execution in the records of the requests. Number 0: nothing
// is to be recorded, because the recorder is off, or because no scheduler has made the batch (a
// warm-up); then its requests are not recorded either.
BatchRecord BeginRecord(const Batch& batch, uint16_t shard, uint64_t start_ns,
                        FlightRecorder* recorder);
// The same for `requests` of a batch with this origin that are executed on their own.
BatchRecord BeginRecord(absl::Span<const RequestPtr> requests, const BatchOrigin& origin,
                        uint16_t shard, uint64_t start_ns, FlightRecorder* recorder);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_BATCH_H_
