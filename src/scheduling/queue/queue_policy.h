// What a queue policy means for one request. Pure functions.
#ifndef NEREID_SCHEDULING_QUEUE_QUEUE_POLICY_H_
#define NEREID_SCHEDULING_QUEUE_QUEUE_POLICY_H_

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "config/compiled_model.h"

namespace nereid {

// `at` + `by` (not negative), or the last point of time.
TimePoint Later(TimePoint at, Duration by);

// When a request that is queued at `now` and asks for a time-out of `asked_us` microseconds (0: it
// does not ask) has waited long enough; none: it waits forever.
std::optional<TimePoint> Deadline(const QueuePolicy& policy, uint64_t asked_us, TimePoint now);

// Whether a request may ever have a deadline in one of the queues of `batching`.
bool MayTimeOut(const BatchingOptions& batching);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_QUEUE_QUEUE_POLICY_H_
