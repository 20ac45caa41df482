// The driver: decides when to send which request, and measures how long each takes. Used by one
// thread.
//
// Closed loop: every slot sends again as soon as its answer has arrived. Open loop: requests fall
// due at given times, whatever the server does. The latency of each request counts from the time it
// was due and not from the time a slot was free to send it, so that a server that stalls is charged
// with everything that waited meanwhile (no coordinated omission).
#ifndef NEREID_APPS_LOADGEN_DRIVER_H_
#define NEREID_APPS_LOADGEN_DRIVER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "apps/loadgen/histogram.h"
#include "apps/loadgen/transport.h"

namespace nereid::bench {

struct Measured {
  Histogram latency;     // of the requests that succeeded
  uint64_t errors = 0;   // failed answers; open loop: also missing answers
  uint64_t in_time = 0;  // open loop: successes within the given time
  double seconds = 0;
};

// A closed loop over all slots for `length`. Requests in flight at the end do not count.
absl::StatusOr<Measured> RunClosed(Transport* transport, BenchClock::duration length);

// An open loop over requests that fall due at `due`, ascending, from now on. Every one of them
// counts; those that succeed `within` that time are in time.
absl::StatusOr<Measured> RunOpen(Transport* transport,
                                 const std::vector<std::chrono::nanoseconds>& due,
                                 std::chrono::nanoseconds within);

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_DRIVER_H_
