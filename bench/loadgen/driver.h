// The driver: when which request is sent, and how long each took. Used by one thread.
//
// Closed loop: every slot sends again as soon as its answer is there. Open loop: requests fall due
// at given times, whatever the server does, and the latency of each counts from when it was due
// and not from when a slot was free to send it, so a server that stalls is charged with
// everything that waited meanwhile (no coordinated omission).
#ifndef NEREID_BENCH_LOADGEN_DRIVER_H_
#define NEREID_BENCH_LOADGEN_DRIVER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "bench/loadgen/answer.h"
#include "bench/loadgen/histogram.h"
#include "bench/loadgen/transport.h"

namespace nereid::bench {

struct Measured {
  Histogram latency;     // of the requests that succeeded
  uint64_t errors = 0;   // answers of failure; open loop: also what was never answered
  uint64_t in_time = 0;  // open loop: successes within the given time
  double seconds = 0;
};

// Sends `rounds` requests on each slot, one slot after the other, and compares every answer.
// DATA_LOSS for a wrong one.
absl::Status CheckAnswers(Transport* transport, const Reference& reference, AnswerForm form,
                          int rounds);

// A closed loop over all slots for `length`. What is in flight at the end does not count.
absl::StatusOr<Measured> RunClosed(Transport* transport, BenchClock::duration length);

// An open loop over requests that fall due at `due`, ascending, from now on. Every one of them
// counts; those that succeed `within` that time are in time.
absl::StatusOr<Measured> RunOpen(Transport* transport,
                                 const std::vector<std::chrono::nanoseconds>& due,
                                 std::chrono::nanoseconds within);

}  // namespace nereid::bench

#endif  // NEREID_BENCH_LOADGEN_DRIVER_H_
