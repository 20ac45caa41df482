// BatchReason: why a batch left its queue when it did. BatchReasonCounts: how many batches of a
// model version left for each reason.
#ifndef NEREID_SCHEDULING_BATCH_REASON_H_
#define NEREID_SCHEDULING_BATCH_REASON_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/export.h"
#include "observe/metrics/metric_sink.h"

namespace nereid {

// docs/reference/batching.md says for each when it is given.
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

// Thread-compatible: guarded by the scheduler's mutex.
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

}  // namespace nereid

#endif  // NEREID_SCHEDULING_BATCH_REASON_H_
