// What is remembered of the execution of a batch, and of the requests in it. Stateless.
#ifndef NEREID_SCHEDULING_BATCH_RECORD_H_
#define NEREID_SCHEDULING_BATCH_RECORD_H_

#include <absl/types/span.h>

#include <cstdint>

#include "observe/record/flight_recorder.h"
#include "scheduling/scheduler.h"

namespace nereid {

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

#endif  // NEREID_SCHEDULING_BATCH_RECORD_H_
