// SPDX-License-Identifier: Apache-2.0
#include "scheduling/dynamic/inline_policy.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

constexpr Duration kLimit = std::chrono::microseconds(100);
constexpr Duration kShort = std::chrono::microseconds(100);
constexpr Duration kLong = std::chrono::microseconds(101);
const TimePoint kNow = FromNanos(1'000'000'000);

void RecordRuns(InlinePolicy* policy, int count, Duration took) {
  for (int i = 0; i < count; ++i) policy->Record(took);
}

TEST(InlinePolicyTest, AllowsOnlyWhatWasMeasuredOftenEnough) {
  InlinePolicy policy(kLimit);
  RecordRuns(&policy, 99, kShort);
  EXPECT_FALSE(policy.Allows(kNow));
  RecordRuns(&policy, 1, kShort);
  EXPECT_TRUE(policy.Allows(kNow));
}

TEST(InlinePolicyTest, ForgivesSixLongRunsInTheWindow) {
  InlinePolicy policy(kLimit);
  RecordRuns(&policy, 100, kShort);
  RecordRuns(&policy, 6, kLong);
  EXPECT_TRUE(policy.Allows(kNow));
  RecordRuns(&policy, 1, kLong);
  EXPECT_FALSE(policy.Allows(kNow));
  // The first of the seven long runs leaves the window with the 128th run after it.
  RecordRuns(&policy, 121, kShort);
  EXPECT_FALSE(policy.Allows(kNow));
  RecordRuns(&policy, 1, kShort);
  EXPECT_TRUE(policy.Allows(kNow));
}

TEST(InlinePolicyTest, PausesForASecondAfterAnOverrunOnAnIoThread) {
  InlinePolicy policy(kLimit);
  RecordRuns(&policy, 100, kShort);
  EXPECT_FALSE(policy.IsOverrun(10 * kLimit));
  EXPECT_TRUE(policy.IsOverrun(10 * kLimit + Duration(1)));
  policy.Pause(kNow);
  EXPECT_FALSE(policy.Allows(kNow));
  EXPECT_FALSE(policy.Allows(kNow + std::chrono::milliseconds(999)));
  EXPECT_TRUE(policy.Allows(kNow + std::chrono::seconds(1)));
}

TEST(InlinePolicyTest, TheOnlyProcessorHasNothingElseToDo) {
  EXPECT_EQ(InlinePolicy::DefaultLimit(1), std::chrono::milliseconds(1));
  EXPECT_EQ(InlinePolicy::DefaultLimit(2), std::chrono::microseconds(100));
  EXPECT_EQ(InlinePolicy::DefaultLimit(64), InlinePolicy::DefaultLimit(2));
}

TEST(InlinePolicyTest, AZeroLimitNeverAllows) {
  InlinePolicy policy(Duration(0));
  EXPECT_FALSE(policy.enabled());
  RecordRuns(&policy, 200, std::chrono::nanoseconds(1));
  EXPECT_FALSE(policy.Allows(kNow));
}

}  // namespace
}  // namespace nereid
