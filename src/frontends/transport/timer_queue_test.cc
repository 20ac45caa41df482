// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/timer_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace nereid::transport {
namespace {

class Silent final : public Timer {
 public:
  void OnTimer() override {}
};

TimePoint At(int64_t n) { return FromNanos(static_cast<uint64_t>(n)); }

TEST(TimerQueueTest, TheEarliestComesFirst) {
  TimerQueue queue;
  EXPECT_EQ(queue.next(), std::nullopt);
  EXPECT_EQ(queue.TakeDue(At(100)), nullptr);
  std::vector<Silent> timers(3);
  queue.Set(&timers[0], At(30));
  queue.Set(&timers[1], At(10));
  queue.Set(&timers[2], At(20));
  EXPECT_EQ(queue.next(), At(10));
  EXPECT_EQ(queue.TakeDue(At(9)), nullptr);
  EXPECT_EQ(queue.TakeDue(At(20)), &timers[1]);
  EXPECT_EQ(queue.TakeDue(At(20)), &timers[2]);
  EXPECT_EQ(queue.TakeDue(At(20)), nullptr);
  EXPECT_EQ(queue.next(), At(30));
  EXPECT_EQ(queue.TakeDue(At(30)), &timers[0]);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(TimerQueueTest, ATimerIsMovedNotAddedTwice) {
  TimerQueue queue;
  Silent timer;
  queue.Set(&timer, At(30));
  queue.Set(&timer, At(10));
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.next(), At(10));
  queue.Remove(&timer);
  queue.Remove(&timer);  // is nowhere
  EXPECT_EQ(queue.size(), 0u);
}

// Against a sorted list of the same timers.
TEST(TimerQueueTest, RandomTimersComeInOrder) {
  std::mt19937 random(11);
  const auto up_to = [&random](int n) { return static_cast<int>(random() % (n + 1)); };
  TimerQueue queue;
  std::vector<Silent> timers(60);
  std::map<Timer*, TimePoint> expected;
  const auto earliest = [&expected] {
    TimePoint first = TimePoint::max();
    for (const auto& [timer, when] : expected) first = std::min(first, when);
    return first;
  };
  for (int step = 0; step < 20'000; ++step) {
    Timer* const timer = &timers[up_to(59)];
    const TimePoint when = At(1 + up_to(40));  // many are the same
    switch (up_to(3)) {
      case 0:
      case 1:
        queue.Set(timer, when);
        expected[timer] = when;
        break;
      case 2:
        queue.Remove(timer);
        expected.erase(timer);
        break;
      case 3:
        if (Timer* const due = queue.TakeDue(when); due == nullptr) {
          ASSERT_TRUE(expected.empty() || earliest() > when);
        } else {
          ASSERT_EQ(expected.at(due), earliest());
          ASSERT_LE(expected.at(due), when);
          expected.erase(due);
        }
        break;
    }
    ASSERT_EQ(queue.size(), expected.size());
    if (!expected.empty()) {
      ASSERT_EQ(queue.next(), earliest());
    }
  }
  while (Timer* const due = queue.TakeDue(At(1000))) {
    ASSERT_EQ(expected.at(due), earliest());
    expected.erase(due);
  }
  EXPECT_TRUE(expected.empty());
}

}  // namespace
}  // namespace nereid::transport
