// The driver: when which request is sent, and how long each took. Used by one thread.
//
// Closed loop: every slot sends again as soon as its answer is there. Open loop: requests fall due
// at a fixed rate, whatever the server does, and the latency of each counts from when it was due
// and not from when a slot was free to send it, so a server that stalls is charged with
// everything that waited meanwhile (no coordinated omission).
#ifndef NEREID_BENCH_LOADGEN_DRIVER_H_
#define NEREID_BENCH_LOADGEN_DRIVER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>

#include "bench/loadgen/answer.h"
#include "bench/loadgen/histogram.h"
#include "bench/loadgen/transport.h"

namespace nereid::bench {

struct Measured {
  Histogram latency;    // of the requests that succeeded
  uint64_t errors = 0;  // answers of failure; open loop: also what was never answered
  double seconds = 0;
};

// Sends `rounds` requests on each slot, one slot after the other, and compares every answer.
// DATA_LOSS for a wrong one.
absl::Status CheckAnswers(Transport* transport, const Reference& reference, AnswerForm form,
                          int rounds);

// A closed loop over all slots for `length`. What is in flight at the end does not count.
absl::StatusOr<Measured> RunClosed(Transport* transport, BenchClock::duration length);

// An open loop at `rate` requests a second for `length`. Every request that fell due counts.
absl::StatusOr<Measured> RunOpen(Transport* transport, double rate, BenchClock::duration length);

}  // namespace nereid::bench

#endif  // NEREID_BENCH_LOADGEN_DRIVER_H_
