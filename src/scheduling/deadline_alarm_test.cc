// SPDX-License-Identifier: Apache-2.0
#include "scheduling/deadline_alarm.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"

namespace nereid {
namespace {

using std::chrono::milliseconds;

class DeadlineAlarmTest : public ::testing::Test {
 protected:
  void TearDown() override { Stop(); }

  void Start() {
    MutexLock lock(&mu_);
    alarm_.Start(&timer_, [this] { Ring(); });
  }
  void Stop() {
    std::unique_ptr<Timer::Alarm> stopped;
    MutexLock lock(&mu_);
    stopped = alarm_.Stop();
    mu_.Unlock();
    stopped.reset();
    mu_.Lock();
  }
  void Ring() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    alarm_.HasRung();
    rung_at_.push_back(clock_.Now());
    changed_.NotifyAll();
  }
  void RingBy(std::optional<milliseconds> from_start) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    if (!from_start.has_value()) return alarm_.RingBy(std::nullopt);
    alarm_.RingBy(start_ + *from_start);
  }
  // Moves the clock to `from_start` and waits until the alarm has rung `times` times in all.
  // Another
  // alarm, for the same time, tells that the timer has reached that time.
  std::vector<TimePoint> RungUntil(milliseconds from_start, size_t times) ABSL_LOCKS_EXCLUDED(mu_) {
    bool settled = false;  // under mu_
    Timer::Alarm last(&timer_, [&] {
      MutexLock lock(&mu_);
      settled = true;
      changed_.NotifyAll();
    });
    last.Set(start_ + from_start);
    clock_.Advance(start_ + from_start - clock_.Now());
    MutexLock lock(&mu_);
    while (!settled || rung_at_.size() < times) changed_.Wait(&mu_);
    return rung_at_;
  }
  TimePoint At(int ms) const { return start_ + milliseconds(ms); }
  using Times = std::vector<TimePoint>;

  FakeClock clock_;
  const TimePoint start_ = clock_.Now();
  Timer timer_{&clock_};
  Mutex mu_;
  CondVar changed_;
  DeadlineAlarm alarm_ ABSL_GUARDED_BY(mu_);
  std::vector<TimePoint> rung_at_ ABSL_GUARDED_BY(mu_);
};

TEST_F(DeadlineAlarmTest, RingsAtTheEarliestDeadline) {
  Start();
  RingBy(milliseconds(20));
  RingBy(milliseconds(10));
  RingBy(milliseconds(30));
  RingBy(std::nullopt);
  EXPECT_EQ(RungUntil(milliseconds(9), 0), Times());
  EXPECT_EQ(RungUntil(milliseconds(10), 1), Times({At(10)}));
  EXPECT_EQ(RungUntil(milliseconds(40), 1), Times({At(10)})) << "only when it is asked to again";
  RingBy(milliseconds(50));
  EXPECT_EQ(RungUntil(milliseconds(50), 2), Times({At(10), At(50)}));
}

TEST_F(DeadlineAlarmTest, RingsNoMoreOnceItIsStopped) {
  Start();
  RingBy(milliseconds(10));
  Stop();
  RingBy(milliseconds(5));
  EXPECT_EQ(RungUntil(milliseconds(20), 0), Times());
}

TEST_F(DeadlineAlarmTest, WithoutATimerNothingRings) {
  RingBy(milliseconds(10));
  EXPECT_EQ(RungUntil(milliseconds(20), 0), Times());
}

}  // namespace
}  // namespace nereid
