// SPDX-License-Identifier: Apache-2.0
// Time, injected. Production code never reads a clock except through a Clock*.
#ifndef NEREID_BASE_CLOCK_H_
#define NEREID_BASE_CLOCK_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/export.h"
#include "base/mutex.h"

namespace nereid {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::steady_clock::time_point;

// Nanoseconds of the steady clock, the unit of the C API's timestamps.
inline uint64_t ToNanos(TimePoint t) {
  return static_cast<uint64_t>(std::chrono::duration_cast<Duration>(t.time_since_epoch()).count());
}
inline TimePoint FromNanos(uint64_t ns) { return TimePoint(Duration(static_cast<int64_t>(ns))); }

// `at` + `by` (not negative), or the last point of time.
inline TimePoint Later(TimePoint at, Duration by) {
  return by > TimePoint::max() - at ? TimePoint::max() : at + by;
}

// Thread-safe.
class NEREID_API Clock {
 public:
  virtual ~Clock() = default;

  // Monotonic time.
  virtual TimePoint Now() const = 0;
  // Milliseconds since the Unix epoch (statistics only).
  virtual uint64_t WallMillis() const = 0;
  // Waits on `cv` until notified or until `deadline` on this clock (none = no deadline). May
  // wake spuriously. REQUIRES: `mu` is held.
  virtual void Wait(CondVar* cv, Mutex* mu, std::optional<TimePoint> deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) = 0;

  // The machine's clock; lives for the whole process.
  static Clock* Real();
};

// A clock that moves only when told to. Advance() wakes every waiter, which then checks its
// deadline again.
class NEREID_API FakeClock final : public Clock {
 public:
  explicit FakeClock(TimePoint start = FromNanos(1'000'000'000)) : now_(start) {}

  TimePoint Now() const override ABSL_LOCKS_EXCLUDED(mu_);
  uint64_t WallMillis() const override ABSL_LOCKS_EXCLUDED(mu_);
  void Wait(CondVar* cv, Mutex* mu, std::optional<TimePoint> deadline) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void Advance(Duration by) ABSL_LOCKS_EXCLUDED(mu_);
  // Number of threads waiting with a deadline right now. Tells a test when it may advance.
  size_t TimedWaiters() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Waiter {
    CondVar* cv;
    Mutex* mu;
  };
  mutable Mutex mu_;
  TimePoint now_ ABSL_GUARDED_BY(mu_);
  std::vector<Waiter> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_BASE_CLOCK_H_
