// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/pace.h"

#include <gtest/gtest.h>

namespace nereid::transport {
namespace {

using std::chrono::seconds;

constexpr TimePoint kStart = TimePoint(seconds(1000));

TEST(PaceTest, WhoMovesNothingHasTheStallTime) {
  Pace pace(seconds(60), 1024);
  pace.Begin(kStart, 500);
  EXPECT_EQ(pace.deadline(), kStart + seconds(60));
  pace.Moved(kStart + seconds(50), 500);
  EXPECT_EQ(pace.deadline(), kStart + seconds(60)) << "nothing has moved";
}

TEST(PaceTest, ADripIsGivenUpByTheRate) {
  Pace pace(seconds(60), 1024);
  pace.Begin(kStart, 0);
  for (int i = 1; i <= 59; ++i) pace.Moved(kStart + seconds(i), static_cast<uint64_t>(i));
  EXPECT_TRUE(pace.by_rate());
  EXPECT_LT(pace.deadline(), kStart + seconds(61));
}

TEST(PaceTest, WhoKeepsTheRateGoesOnAsLongAsThatTakes) {
  Pace pace(seconds(60), 1024);
  pace.Begin(kStart, 0);
  TimePoint now = kStart;
  for (uint64_t total = 1024; total <= 10'000 * 1024; total += 1024) {
    now += seconds(1);
    ASSERT_LT(now, pace.deadline());
    pace.Moved(now, total);
  }
  EXPECT_FALSE(pace.by_rate());
  EXPECT_EQ(pace.deadline(), now + seconds(60)) << "a pause of the stall time is allowed";
}

TEST(PaceTest, WithoutARateOnlyStandingStillCounts) {
  Pace pace(seconds(60), 0);
  pace.Begin(kStart, 0);
  pace.Moved(kStart + seconds(10'000), 1);
  EXPECT_EQ(pace.deadline(), kStart + seconds(10'060));
}

TEST(PaceTest, ABeginForgetsWhatWas) {
  Pace pace(seconds(60), 1);
  EXPECT_FALSE(pace.under_way());
  pace.Begin(kStart, 0);
  pace.Moved(kStart, 1'000'000);
  pace.End();
  EXPECT_FALSE(pace.under_way());
  pace.Begin(kStart + seconds(5), 1'000'000);
  EXPECT_EQ(pace.deadline(), kStart + seconds(65));
}

TEST(PaceTest, HugeNumbersDoNotOverflow) {
  Pace pace(seconds(60), 1);
  pace.Begin(kStart, 0);
  pace.Moved(kStart, UINT64_MAX);
  EXPECT_EQ(pace.deadline(), kStart + seconds(60));
}

TEST(PaceTest, TellsHowLongNothingHasMoved) {
  Pace pace(seconds(60), 0);
  EXPECT_FALSE(pace.StalledFor(kStart, seconds(3))) << "there is nothing to move";
  pace.Begin(kStart, 0);
  EXPECT_FALSE(pace.StalledFor(kStart + seconds(2), seconds(3)));
  EXPECT_TRUE(pace.StalledFor(kStart + seconds(3), seconds(3)));
  pace.Moved(kStart + seconds(4), 1);
  EXPECT_FALSE(pace.StalledFor(kStart + seconds(5), seconds(3)));
  pace.End();
  EXPECT_FALSE(pace.StalledFor(kStart + seconds(500), seconds(3)));
}

}  // namespace
}  // namespace nereid::transport
