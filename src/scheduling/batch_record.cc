#include "scheduling/batch_record.h"

#include "infer/infer_request.h"

namespace nereid {
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
    if (request->is_filler()) {
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
