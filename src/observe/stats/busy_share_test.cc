// SPDX-License-Identifier: Apache-2.0
#include "observe/stats/busy_share.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

using std::chrono::seconds;

constexpr uint64_t kSecond = 1'000'000'000;

TEST(BusyShareTest, IsTheShareSinceTheReadingBefore) {
  const TimePoint start;
  BusyShare share(start, seconds(2));
  EXPECT_EQ(share.Read(start + seconds(10), 5 * kSecond, 1).share, 0.5);
  EXPECT_EQ(share.Read(start + seconds(20), 15 * kSecond, 1).share, 1);
  EXPECT_EQ(share.Read(start + seconds(30), 15 * kSecond, 1).share, 0);
  EXPECT_EQ(share.Read(start + seconds(40), 20 * kSecond, 2).share, 0.25);
}

TEST(BusyShareTest, AReadingIsKeptForAWhile) {
  const TimePoint start;
  BusyShare share(start, seconds(2));
  EXPECT_EQ(share.Read(start + seconds(1), kSecond, 1).share, 0) << "too early to tell";
  EXPECT_EQ(share.Read(start + seconds(10), 5 * kSecond, 1).share, 0.5);
  EXPECT_EQ(share.Read(start + seconds(11), 6 * kSecond, 1).share, 0.5);
  EXPECT_EQ(share.Read(start + seconds(12), 7 * kSecond, 1).share, 1);
}

TEST(BusyShareTest, NothingGoesDownOrBeyondItsLimits) {
  const TimePoint start;
  BusyShare share(start, seconds(2));
  EXPECT_EQ(share.Read(start + seconds(10), 5 * kSecond, 1).busy_seconds, 5);
  const BusyShare::Reading missed = share.Read(start + seconds(20), 4 * kSecond, 1);
  EXPECT_EQ(missed.busy_seconds, 5);
  EXPECT_EQ(missed.share, 0);
  // The last instance has just been removed.
  EXPECT_EQ(share.Read(start + seconds(30), 15 * kSecond, 0).share, 1);
  // Two instances until a moment ago.
  EXPECT_EQ(share.Read(start + seconds(40), 35 * kSecond, 1).share, 1);
}

}  // namespace
}  // namespace nereid
