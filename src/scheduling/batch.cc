// SPDX-License-Identifier: Apache-2.0
#include "scheduling/batch.h"

#include "infer/infer_request.h"
#include "observe/record/flight_recorder.h"

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

namespace {

void NoteIn(FlightRecord* flight, const BatchRecord& batch) {
  // A request that its model reschedules is recorded with its first execution.
  if (flight == nullptr || flight->batch != 0) return;
  flight->batch = batch.number;
  flight->instance = batch.instance;
  flight->pulled = batch.pulled;
  flight->staged = batch.staged;
  flight->exec_start = batch.exec_start;
}

}  // namespace

BatchRecord BeginRecord(const Batch& batch, uint16_t shard, uint64_t start_ns,
                        FlightRecorder* recorder) {
  return BeginRecord(batch, batch.origin, shard, start_ns, recorder);
}

BatchRecord BeginRecord(absl::Span<const RequestPtr> requests, const BatchOrigin& origin,
                        uint16_t shard, uint64_t start_ns, FlightRecorder* recorder) {
  BatchRecord record;
  if (!recorder->enabled()) return record;
  if (origin.pulled_ns == 0) {
    for (const RequestPtr& request : requests) request->stream()->DropRecord();
    return record;
  }
  record.number = recorder->NextBatch(shard);
  record.instance = shard;
  record.pulled = origin.pulled_ns;
  record.staged = origin.staged_ns;
  record.exec_start = start_ns;
  record.reason = static_cast<uint8_t>(origin.why);
  record.by_caller = origin.by_caller;
  for (const RequestPtr& request : requests) {
    if (request->is_synthetic()) {
      ++record.fillers;
      continue;
    }
    ++record.requests;
    record.units += request->units_in_batch();
    NoteIn(request->stream()->flight(), record);
  }
  return record;
}

}  // namespace nereid
