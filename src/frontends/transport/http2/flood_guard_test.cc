// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/http2/flood_guard.h"

#include <gtest/gtest.h>

namespace nereid::http2 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kFilled = FromNanos(1'000'000'000);

// How many frames are let through at `now`, of at most `n`.
int Let(FloodGuard* guard, TimePoint now, int n) {
  int count = 0;
  while (count < n && guard->Frame(now)) ++count;
  return count;
}

TEST(FloodGuardTest, LetsTenSecondsWorthThroughAtOnce) {
  FloodGuard guard(5, kFilled);
  EXPECT_EQ(Let(&guard, kFilled, 1000), 50);
}

TEST(FloodGuardTest, TimeThatPassesLetsMoreThrough) {
  FloodGuard guard(5, kFilled);
  EXPECT_EQ(Let(&guard, kFilled, 50), 50);
  EXPECT_EQ(Let(&guard, kFilled + seconds(2), 1000), 10);
}

TEST(FloodGuardTest, LetsFramesAtTheRateThroughForEver) {
  FloodGuard guard(5, kFilled);
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(guard.Frame(kFilled + i * milliseconds(200))) << i;
}

TEST(FloodGuardTest, StopsFramesAboveTheRate) {
  FloodGuard guard(5, kFilled);
  int let = 0;
  while (let < 10'000 && guard.Frame(kFilled + let * milliseconds(100))) ++let;
  EXPECT_NEAR(let, 100, 2);  // 50 at once, and 5 of 10 a second
}

TEST(FloodGuardTest, NoMoreThanTenSecondsWorthAtOnceAfterALongSilence) {
  FloodGuard guard(5, kFilled);
  EXPECT_EQ(Let(&guard, kFilled + seconds(1000), 1000), 50);
  FloodGuard used(5, kFilled);
  EXPECT_EQ(Let(&used, kFilled, 50), 50);
  EXPECT_EQ(Let(&used, kFilled + seconds(1000), 1000), 50);
}

TEST(FloodGuardTest, EachAnsweredRequestLetsOneMoreThroughButNotBeyondTheBurst) {
  FloodGuard guard(5, kFilled);
  for (int i = 0; i < 1000; ++i) guard.RequestAnswered();
  EXPECT_EQ(Let(&guard, kFilled, 50), 50);
  for (int i = 0; i < 20; ++i) guard.RequestAnswered();
  EXPECT_EQ(Let(&guard, kFilled, 1000), 20);
}

TEST(FloodGuardTest, LessThanOneASecond) {
  FloodGuard guard(0.25, kFilled);
  EXPECT_EQ(Let(&guard, kFilled, 100), 2);
  FloodGuard other(0.25, kFilled);
  EXPECT_EQ(Let(&other, kFilled, 2), 2);
  EXPECT_FALSE(other.Frame(kFilled + seconds(1)));
}

TEST(FloodGuardTest, ZeroIsNoLimit) {
  FloodGuard guard(0, kFilled);
  guard.RequestAnswered();
  EXPECT_EQ(Let(&guard, kFilled, 100'000), 100'000);
}

}  // namespace
}  // namespace nereid::http2
