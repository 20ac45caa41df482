// SimulatedClock: time that the event loop of a simulation sets. Thread-compatible: everything that
// reads it runs on the loop's thread.
#ifndef NEREID_SIMULATION_SIMULATED_CLOCK_H_
#define NEREID_SIMULATION_SIMULATED_CLOCK_H_

#include <optional>

#include "base/clock.h"

namespace nereid {

class SimulatedClock final : public Clock {
 public:
  void Set(uint64_t now_ns) { now_ns_ = now_ns; }
  uint64_t now_ns() const { return now_ns_; }

  TimePoint Now() const override { return FromNanos(now_ns_); }
  uint64_t WallMillis() const override { return now_ns_ / 1'000'000; }
  // Nobody waits in a simulation; as a spurious wake-up.
  void Wait(CondVar*, Mutex*, std::optional<TimePoint>) override {}

 private:
  uint64_t now_ns_ = 1;
};

}  // namespace nereid

#endif  // NEREID_SIMULATION_SIMULATED_CLOCK_H_
