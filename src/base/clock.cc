// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <algorithm>

namespace nereid {
namespace {

class RealClock final : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::steady_clock::now(); }

  uint64_t WallMillis() const override {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
  }

  void Wait(CondVar* cv, Mutex* mu, std::optional<TimePoint> deadline) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    if (deadline.has_value()) {
      cv->WaitUntil(mu, *deadline);
    } else {
      cv->Wait(mu);
    }
  }
};

}  // namespace

Clock* Clock::Real() {
  static RealClock* const clock = new RealClock;
  return clock;
}

TimePoint FakeClock::Now() const {
  MutexLock lock(&mu_);
  return now_;
}

uint64_t FakeClock::WallMillis() const { return ToNanos(Now()) / 1'000'000; }

void FakeClock::Wait(CondVar* cv, Mutex* mu, std::optional<TimePoint> deadline) {
  if (!deadline.has_value()) {
    cv->Wait(mu);
    return;
  }
  {
    MutexLock lock(&mu_);
    if (now_ >= *deadline) return;
    waiters_.push_back({cv, mu});
  }
  cv->Wait(mu);
  MutexLock lock(&mu_);
  auto it = std::find_if(waiters_.begin(), waiters_.end(),
                         [&](const Waiter& w) { return w.cv == cv && w.mu == mu; });
  if (it != waiters_.end()) waiters_.erase(it);
}

void FakeClock::Advance(Duration by) {
  std::vector<Waiter> waiters;
  {
    MutexLock lock(&mu_);
    now_ += by;
    waiters = waiters_;
  }
  // Taking the waiter's mutex makes sure that it has really gone to sleep, or has seen the new
  // time, before it is notified.
  for (const Waiter& waiter : waiters) {
    MutexLock lock(waiter.mu);
    waiter.cv->NotifyAll();
  }
}

size_t FakeClock::TimedWaiters() const {
  MutexLock lock(&mu_);
  return waiters_.size();
}

}  // namespace nereid
