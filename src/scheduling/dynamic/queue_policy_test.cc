// SPDX-License-Identifier: Apache-2.0
#include "scheduling/dynamic/request_queue.h"

#include <gtest/gtest.h>

#include <limits>
#include <ostream>

namespace nereid {
namespace {

using std::chrono::microseconds;

constexpr TimePoint kNow = TimePoint(std::chrono::seconds(100));

struct Case {
  const char* name;
  int64_t default_us;
  bool override_allowed;
  uint64_t asked_us;
  int64_t expected_us;  // 0: none
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class DeadlineTest : public ::testing::TestWithParam<Case> {};

TEST_P(DeadlineTest, FollowsFromPolicyAndRequest) {
  const Case& c = GetParam();
  QueuePolicy policy;
  policy.default_timeout = microseconds(c.default_us);
  policy.allow_timeout_override = c.override_allowed;
  const std::optional<TimePoint> deadline = Deadline(policy, c.asked_us, kNow);
  if (c.expected_us == 0) {
    EXPECT_FALSE(deadline.has_value());
  } else {
    EXPECT_EQ(deadline, kNow + microseconds(c.expected_us));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, DeadlineTest,
    ::testing::Values(Case{"none", 0, false, 0, 0}, Case{"the_default", 500, false, 0, 500},
                      Case{"no_override", 500, false, 100, 500},
                      Case{"no_override_of_none", 0, false, 100, 0},
                      Case{"shorter", 500, true, 100, 100}, Case{"longer", 500, true, 900, 500},
                      Case{"not_asked", 500, true, 0, 500},
                      Case{"where_there_is_no_default", 0, true, 100, 100},
                      Case{"nothing_asked_where_there_is_no_default", 0, true, 0, 0}),
    [](const auto& info) { return info.param.name; });

TEST(DeadlineLimitsTest, TheLongestTimesDoNotOverflow) {
  QueuePolicy policy;
  policy.allow_timeout_override = true;
  EXPECT_EQ(Deadline(policy, std::numeric_limits<uint64_t>::max(), kNow), TimePoint::max());
  policy.default_timeout = Duration::max();
  EXPECT_EQ(Deadline(policy, 0, kNow), TimePoint::max());
}

TEST(MayTimeOutTest, IfAnyLevelSaysSo) {
  BatchingOptions batching;
  batching.enabled = true;
  EXPECT_FALSE(MayTimeOut(batching));
  batching.priority_queue_policy[2].max_queue_size = 1;
  EXPECT_FALSE(MayTimeOut(batching));
  batching.priority_queue_policy[2].allow_timeout_override = true;
  EXPECT_TRUE(MayTimeOut(batching));
  batching.priority_queue_policy.clear();
  batching.default_queue_policy.default_timeout = microseconds(1);
  EXPECT_TRUE(MayTimeOut(batching));
}

TEST(LevelOfTest, WhatIsOutOfRangeIsTheDefault) {
  BatchingOptions batching;
  EXPECT_EQ(batching.LevelOf(3), 0u) << "there are no levels";
  batching.priority_levels = 4;
  batching.default_priority_level = 2;
  EXPECT_EQ(batching.LevelOf(0), 2u);
  EXPECT_EQ(batching.LevelOf(1), 1u);
  EXPECT_EQ(batching.LevelOf(4), 4u);
  EXPECT_EQ(batching.LevelOf(5), 2u);
  batching.priority_levels = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(batching.LevelOf(batching.priority_levels), batching.priority_levels);
}

}  // namespace
}  // namespace nereid
