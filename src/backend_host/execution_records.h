// SPDX-License-Identifier: Apache-2.0
// ExecutionRecords: what the flight recorder remembers of one call of a backend's Execute: an
// execution or, if the requests are separate (BatchOrigin), one for each. Owned by the thread that
// makes the call.
#ifndef NEREID_BACKEND_HOST_EXECUTION_RECORDS_H_
#define NEREID_BACKEND_HOST_EXECUTION_RECORDS_H_

#include <absl/container/inlined_vector.h>

#include <cstdint>

#include "observe/record/flight_recorder.h"
#include "scheduling/scheduler.h"

namespace nereid {

class ExecutionRecords {
 public:
  // Begins the executions of `batch` at `start_ns`, by instance `shard` of the model. The rest as
  // for scheduling/batch.h. Throws std::bad_alloc before anything has begun.
  ExecutionRecords(const Batch& batch, uint16_t shard, uint64_t start_ns, FlightRecorder* recorder);
  ~ExecutionRecords();
  ExecutionRecords(const ExecutionRecords&) = delete;
  ExecutionRecords& operator=(const ExecutionRecords&) = delete;

  // The backend reports when it has executed the request of `flight` (null: not recorded), which
  // matters if that is separate. Reports of other threads than the one that has called Execute are
  // ignored.
  static void OnReport(const FlightRecorder* recorder, FlightRecord* flight, uint64_t start_ns,
                       uint64_t end_ns);
  // Records the executions. Those that were not reported have ended at `end_ns`.
  void End(uint64_t end_ns, bool failed);

 private:
  // The innermost object of this thread with separate requests: a backend may call the server from
  // within Execute, and execute another model by that.
  static thread_local ExecutionRecords* current;

  FlightRecorder* const recorder_;
  ExecutionRecords* const outer_;
  const bool separate_;
  absl::InlinedVector<BatchRecord, 8> records_;
};

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_EXECUTION_RECORDS_H_
