// SPDX-License-Identifier: Apache-2.0
#include "backend_host/execution_records.h"

#include <absl/algorithm/container.h>

#include <algorithm>
#include <iterator>

#include "scheduling/batch.h"

namespace nereid {

thread_local ExecutionRecords* ExecutionRecords::current = nullptr;

ExecutionRecords::ExecutionRecords(const Batch& batch, uint16_t shard, uint64_t start_ns,
                                   FlightRecorder* recorder)
    : recorder_(recorder), outer_(current), separate_(batch.origin.separate) {
  records_.reserve(separate_ ? batch.size() : 1);
  if (separate_) {
    for (const RequestPtr& request : batch) {
      records_.push_back(BeginRecord({&request, 1}, batch.origin, shard, start_ns, recorder));
    }
    current = this;
  } else {
    records_.push_back(BeginRecord(batch, shard, start_ns, recorder));
  }
}

ExecutionRecords::~ExecutionRecords() {
  if (separate_) current = outer_;
}

void ExecutionRecords::OnReport(const FlightRecorder* recorder, FlightRecord* flight,
                                uint64_t start_ns, uint64_t end_ns) {
  if (current == nullptr || flight == nullptr || current->recorder_ != recorder) return;
  const auto record = absl::c_find_if(
      current->records_, [&](const BatchRecord& r) { return r.number == flight->batch; });
  if (record == current->records_.end()) return;
  flight->exec_start = start_ns;
  // The backend may have begun with this one while it answered the one before.
  const bool first = record == current->records_.begin();
  record->exec_start = first ? start_ns : std::max(start_ns, std::prev(record)->exec_end);
  record->exec_end = std::max(end_ns, record->exec_start);
}

void ExecutionRecords::End(uint64_t end_ns, bool failed) {
  for (BatchRecord& record : records_) {
    if (record.number == 0) continue;
    if (record.exec_end == 0) record.exec_end = end_ns;
    record.failed = failed;
    recorder_->Record(record);
  }
}

}  // namespace nereid
