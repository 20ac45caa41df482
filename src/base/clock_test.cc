// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace nereid {
namespace {

using std::chrono::milliseconds;

TEST(ClockTest, NanosecondsGoThereAndBack) {
  EXPECT_EQ(ToNanos(FromNanos(123'456'789)), 123'456'789u);
}

TEST(ClockTest, TheRealClockGoesForward) {
  Clock* const clock = Clock::Real();
  const TimePoint before = clock->Now();
  EXPECT_GE(clock->Now(), before);
  EXPECT_GT(clock->WallMillis(), 1'600'000'000'000u) << "milliseconds since 1970";
}

TEST(ClockTest, TheRealClockWaitsNoLongerThanTheDeadline) {
  Clock* const clock = Clock::Real();
  Mutex mu;
  CondVar cv;
  const TimePoint deadline = clock->Now() + milliseconds(1);
  MutexLock lock(&mu);
  while (clock->Now() < deadline) clock->Wait(&cv, &mu, deadline);
  EXPECT_GE(clock->Now(), deadline);
}

TEST(FakeClockTest, MovesOnlyWhenTold) {
  FakeClock clock(FromNanos(5'000'000));
  EXPECT_EQ(ToNanos(clock.Now()), 5'000'000u);
  EXPECT_EQ(clock.WallMillis(), 5u);
  clock.Advance(milliseconds(2));
  EXPECT_EQ(ToNanos(clock.Now()), 7'000'000u);
}

TEST(FakeClockTest, ADeadlineThatHasPassedIsNotWaitedFor) {
  FakeClock clock;
  Mutex mu;
  CondVar cv;
  MutexLock lock(&mu);
  clock.Wait(&cv, &mu, clock.Now());
  EXPECT_EQ(clock.TimedWaiters(), 0u);
}

TEST(FakeClockTest, AdvanceWakesEveryOneWhoseTimeHasCome) {
  FakeClock clock;
  struct Sleeper {
    Mutex mu;
    CondVar cv;
    std::thread thread;
  };
  std::vector<Sleeper> sleepers(3);
  const TimePoint deadline = clock.Now() + milliseconds(10);
  for (Sleeper& sleeper : sleepers) {
    sleeper.thread = std::thread([&clock, &sleeper, deadline] {
      MutexLock lock(&sleeper.mu);
      while (clock.Now() < deadline) clock.Wait(&sleeper.cv, &sleeper.mu, deadline);
    });
  }
  while (clock.TimedWaiters() < sleepers.size()) std::this_thread::yield();
  clock.Advance(milliseconds(4));
  clock.Advance(milliseconds(6));
  for (Sleeper& sleeper : sleepers) sleeper.thread.join();
  EXPECT_EQ(clock.TimedWaiters(), 0u);
}

TEST(FakeClockTest, ANotificationEndsAWaitBeforeItsTime) {
  FakeClock clock;
  Mutex mu;
  CondVar cv;
  bool done = false;
  std::thread waiter([&] {
    MutexLock lock(&mu);
    while (!done) clock.Wait(&cv, &mu, clock.Now() + milliseconds(1));
  });
  while (clock.TimedWaiters() == 0) std::this_thread::yield();
  {
    MutexLock lock(&mu);
    done = true;
  }
  cv.NotifyAll();
  waiter.join();
  EXPECT_EQ(clock.TimedWaiters(), 0u);
}

TEST(FakeClockTest, AWaitWithoutDeadlineIsAPlainWait) {
  FakeClock clock;
  Mutex mu;
  CondVar cv;
  bool waiting = false, done = false;
  std::thread waiter([&] {
    MutexLock lock(&mu);
    waiting = true;
    while (!done) clock.Wait(&cv, &mu, std::nullopt);
  });
  while (true) {
    MutexLock lock(&mu);
    if (waiting) break;  // the thread has released the mutex, so it waits
  }
  EXPECT_EQ(clock.TimedWaiters(), 0u);
  {
    MutexLock lock(&mu);
    done = true;
  }
  cv.NotifyAll();
  waiter.join();
}

}  // namespace
}  // namespace nereid
