// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace nereid::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

std::vector<nanoseconds> DueTimes(Arrivals arrivals, double rate, double seconds, uint64_t seed) {
  ArrivalTimes times(arrivals, rate, seconds, seed);
  std::vector<nanoseconds> due;
  while (const auto next = times.Next()) due.push_back(*next);
  return due;
}

size_t Between(const std::vector<nanoseconds>& due, microseconds from, microseconds to) {
  return static_cast<size_t>(std::lower_bound(due.begin(), due.end(), to) -
                             std::lower_bound(due.begin(), due.end(), from));
}

TEST(ArrivalsTest, HaveNames) {
  EXPECT_EQ(ParseArrivals("step"), Arrivals::kStep);
  EXPECT_EQ(ParseArrivals("steps"), std::nullopt);
}

TEST(ArrivalsTest, UniformOnesHaveEqualGaps) {
  const auto due = DueTimes(Arrivals::kUniform, 1000, 2, 1);
  ASSERT_EQ(due.size(), 2000u);
  EXPECT_EQ(due[0], nanoseconds(0));
  EXPECT_EQ(due[1500], microseconds(1'500'000));
}

TEST(ArrivalsTest, AllHaveTheMeanRateAndAscend) {
  for (const Arrivals arrivals : {Arrivals::kPoisson, Arrivals::kBursty, Arrivals::kStep}) {
    const auto due = DueTimes(arrivals, 1000, 30, 1);
    EXPECT_NEAR(static_cast<double>(due.size()), 30'000, 600);
    EXPECT_TRUE(std::is_sorted(due.begin(), due.end()));
    EXPECT_LT(due.back(), std::chrono::seconds(30));
  }
}

TEST(ArrivalsTest, TheSeedDecides) {
  EXPECT_EQ(DueTimes(Arrivals::kPoisson, 100, 1, 1), DueTimes(Arrivals::kPoisson, 100, 1, 1));
  EXPECT_NE(DueTimes(Arrivals::kPoisson, 100, 1, 1), DueTimes(Arrivals::kPoisson, 100, 1, 2));
}

TEST(ArrivalsTest, ACurveHasItsRates) {
  ArrivalTimes times({0, 2000, 0}, 10, 1);
  std::vector<nanoseconds> due;
  while (const auto next = times.Next()) due.push_back(*next);
  EXPECT_NEAR(static_cast<double>(due.size()), 10'000, 400);
  EXPECT_TRUE(std::is_sorted(due.begin(), due.end()));
  // A quarter of the requests come in the first half of the way up.
  EXPECT_NEAR(static_cast<double>(Between(due, microseconds(0), microseconds(2'500'000))), 1250,
              150);
  EXPECT_NEAR(static_cast<double>(Between(due, microseconds(2'500'000), microseconds(5'000'000))),
              3750, 250);
  ArrivalTimes constant({100}, 10, 1);
  size_t count = 0;
  while (constant.Next().has_value()) ++count;
  EXPECT_NEAR(static_cast<double>(count), 1000, 150);
}

TEST(ArrivalsTest, BurstsAndStepsAreWhereTheyShouldBe) {
  const auto bursty = DueTimes(Arrivals::kBursty, 10'000, 1, 1);
  EXPECT_NEAR(static_cast<double>(Between(bursty, microseconds(100'000), microseconds(120'000))),
              800, 120);
  EXPECT_NEAR(static_cast<double>(Between(bursty, microseconds(120'000), microseconds(200'000))),
              200, 60);
  const auto step = DueTimes(Arrivals::kStep, 10'000, 3, 1);
  EXPECT_NEAR(static_cast<double>(Between(step, microseconds(0), microseconds(1'000'000))), 4000,
              300);
  EXPECT_NEAR(static_cast<double>(Between(step, microseconds(1'000'000), microseconds(2'000'000))),
              15'000, 500);
}

TEST(ArrivalsTest, AListIsTakenAsItIs) {
  ArrivalTimes times({nanoseconds(1), nanoseconds(1), nanoseconds(7)});
  EXPECT_EQ(times.end(), nanoseconds(7));
  EXPECT_EQ(times.Next(), nanoseconds(1));
  EXPECT_EQ(times.Next(), nanoseconds(1));
  EXPECT_EQ(times.Next(), nanoseconds(7));
  EXPECT_EQ(times.Next(), std::nullopt);
}

}  // namespace
}  // namespace nereid::bench
