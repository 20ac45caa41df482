#include "scheduling/batch_reason.h"

namespace nereid {
namespace {

constexpr MetricFamily kBatches = {"nereid_batch_count", MetricKind::kCounter,
                                   "Number of batches by the reason why they left the queue",
                                   MetricSection::kBatching};

}  // namespace

const char* NameOf(BatchReason reason) {
  switch (reason) {
    case BatchReason::kFull:
      return "full";
    case BatchReason::kPreferredSize:
      return "preferred_size";
    case BatchReason::kDelayOver:
      return "delay_over";
    case BatchReason::kIdleInstance:
      return "idle_instance";
    case BatchReason::kShapeChange:
      return "shape_change";
    case BatchReason::kTarget:
      return "target";
    case BatchReason::kStrategy:
      return "strategy";
    case BatchReason::kEndOfTurn:
      return "end_of_turn";
    case BatchReason::kSequenceSlots:
      return "sequence_slots";
    case BatchReason::kNotBatched:
      return "not_batched";
  }
  return "";
}

void BatchReasonCounts::DescribeMetrics(MetricSink* sink) const {
  for (size_t i = 0; i < kBatchReasons; ++i) {
    if (counts_[i] == 0) continue;
    const MetricLabel label{"reason", NameOf(static_cast<BatchReason>(i))};
    sink->Report(kBatches, static_cast<double>(counts_[i]), {&label, 1});
  }
}

}  // namespace nereid
