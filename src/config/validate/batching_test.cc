// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"
#include "config/validate/checks.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> BatchingProblems(const std::string& batching) {
  return ProblemsOf(CheckDynamicBatching,
                    "name: 'm' max_batch_size: 8 dynamic_batching { " + batching + " }");
}

TEST(CheckDynamicBatchingTest, AcceptsGoodOnesAndNone) {
  EXPECT_THAT(ProblemsOf(CheckDynamicBatching, "name: 'm'"), IsEmpty());
  EXPECT_THAT(BatchingProblems("preferred_batch_size: [ 1, 8 ]"), IsEmpty());
  EXPECT_THAT(BatchingProblems("priority_levels: 2 default_priority_level: 2 "
                               "priority_queue_policy { key: 1 value { timeout_action: DELAY } }"),
              IsEmpty());
}

TEST(CheckDynamicBatchingTest, PreferredSizes) {
  EXPECT_THAT(BatchingProblems("preferred_batch_size: [ 0, 4, 9 ]"),
              ElementsAre("dynamic_batching.preferred_batch_size[0]: dynamic batching preferred "
                          "size must be positive for m",
                          "dynamic_batching.preferred_batch_size[2]: dynamic batching preferred "
                          "size must be <= max batch size for m"));
}

TEST(CheckDynamicBatchingTest, Priorities) {
  EXPECT_THAT(BatchingProblems("priority_levels: 2 "
                               "priority_queue_policy { key: 0 value { } } "
                               "priority_queue_policy { key: 2 value { } } "
                               "priority_queue_policy { key: 3 value { } }"),
              ElementsAre("dynamic_batching.default_priority_level: default priority level must "
                          "be in range [1, 2] for m",
                          "dynamic_batching.priority_queue_policy[0]: priority queue policy must "
                          "have priority level in range [1, 2] for m",
                          "dynamic_batching.priority_queue_policy[3]: priority queue policy must "
                          "have priority level in range [1, 2] for m"));
}

TEST(CheckDynamicBatchingTest, OrderExcludesPrioritiesAndDelay) {
  constexpr char kDelay[] =
      "Queue policy can not have DELAY as timeout action when 'preserve_ordering' is true for m";
  EXPECT_THAT(
      BatchingProblems(
          "preserve_ordering: true priority_levels: 2 default_priority_level: 1 "
          "default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 1 } "
          "priority_queue_policy { key: 1 value { timeout_action: DELAY "
          "default_timeout_microseconds: 1 } } "
          "priority_queue_policy { key: 2 value { timeout_action: DELAY } }"),
      ElementsAre(
          "dynamic_batching.priority_levels: Only one priority level is allowed when "
          "'preserve_ordering' is true for m",
          std::string("dynamic_batching.default_queue_policy.timeout_action: ") + kDelay,
          std::string("dynamic_batching.priority_queue_policy[1].timeout_action: ") + kDelay));
}

}  // namespace
}  // namespace nereid
