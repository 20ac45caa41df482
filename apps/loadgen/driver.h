// SPDX-License-Identifier: Apache-2.0
// The driver: decides when to send which request, and tells an observer how long each takes. Used
// by one thread.
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

#include "apps/loadgen/arrivals.h"
#include "apps/loadgen/histogram.h"
#include "apps/loadgen/transport.h"

namespace nereid::bench {

// What the driver does next.
enum class RunState {
  kGoOn,
  kFinish,  // sends nothing more, and waits for the answers of an open loop
  kLeave,   // returns without waiting
};

// Is told what happens in a run, by the driver's thread.
class LoadObserver {
 public:
  struct Answer {
    Transport::Completion completion;
    BenchTime begun;  // open loop: when the request was due
    BenchTime sent;
    BenchTime now;
  };

  virtual ~LoadObserver() = default;
  virtual void OnAnswer(const Answer& answer) = 0;
  // Called before each wait, which is at most a few hundredths of a second.
  virtual RunState OnTime(BenchTime /*now*/) { return RunState::kGoOn; }
};

// A closed loop over all slots for `length`. Requests in flight at the end do not count; they are
// waited for, sequences are brought to their end. Returns how many had no answer even after a time
// that is long enough for any server. An error if there is no connection.
absl::StatusOr<uint64_t> DriveClosed(Transport* transport, BenchClock::duration length,
                                     LoadObserver* observer);

// An open loop over requests that fall due at `due` from now on. All that fell due count; sequences
// are brought to their end after the others. Returns how many had no answer, likewise.
absl::StatusOr<uint64_t> DriveOpen(Transport* transport, ArrivalTimes due, LoadObserver* observer);

// What the race track wants to know of a run.
struct Measured {
  Histogram latency;     // of the requests that succeeded
  uint64_t errors = 0;   // failed answers; open loop: also missing answers
  uint64_t in_time = 0;  // open loop: successes within the given time
  BenchTime began;       // when the first request was sent, or could fall due
  double seconds = 0;
  double seconds_to_last = 0;  // closed loop: until the last answer that counts; 0 without one
};

// As DriveClosed; DEADLINE_EXCEEDED if an answer is missing.
absl::StatusOr<Measured> RunClosed(Transport* transport, BenchClock::duration length);

// As DriveOpen; successes `within` that time are in time.
absl::StatusOr<Measured> RunOpen(Transport* transport, ArrivalTimes due,
                                 std::chrono::nanoseconds within);

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_DRIVER_H_
