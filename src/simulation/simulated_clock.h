// SPDX-License-Identifier: Apache-2.0
// SimulatedClock: time that a simulation sets. Thread-compatible: everything that reads it runs on
// the simulation's thread.
#ifndef NEREID_SIMULATION_SIMULATED_CLOCK_H_
#define NEREID_SIMULATION_SIMULATED_CLOCK_H_

#include <absl/status/status.h>

#include <cstddef>
#include <optional>

#include "base/clock.h"

namespace nereid {

// How often a simulation of so many requests may stay at one moment, at most.
inline size_t MostStays(size_t requests) { return 1000 + 4 * requests; }

class SimulatedClock final : public Clock {
 public:
  uint64_t now_ns() const { return now_ns_; }

  // Goes on to an event, or stays if that should have happened before. INTERNAL if it has stayed
  // more than `most_stays` times: a scheduler that wants to be asked at once, again and again, is
  // broken.
  absl::Status GoTo(uint64_t event_ns, size_t most_stays) {
    stays_ = event_ns > now_ns_ ? 0 : stays_ + 1;
    if (stays_ > most_stays) {
      return absl::InternalError("the scheduler does not get beyond one moment");
    }
    if (event_ns > now_ns_) now_ns_ = event_ns;
    return absl::OkStatus();
  }

  TimePoint Now() const override { return FromNanos(now_ns_); }
  uint64_t WallMillis() const override { return now_ns_ / 1'000'000; }
  // Nobody waits in a simulation; as a spurious wake-up.
  void Wait(CondVar*, Mutex*, std::optional<TimePoint>) override {}

 private:
  uint64_t now_ns_ = 1;
  size_t stays_ = 0;
};

}  // namespace nereid

#endif  // NEREID_SIMULATION_SIMULATED_CLOCK_H_
