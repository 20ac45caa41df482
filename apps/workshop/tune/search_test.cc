// SPDX-License-Identifier: Apache-2.0
#include "tune/search.h"

#include <gmock/gmock.h>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::Le;
using ::testing::SizeIs;

std::vector<Candidate> Instances(int most) {
  std::vector<Candidate> candidates;
  for (int count = 1; count <= most; ++count) candidates.push_back({count, 0, false, {}, 0});
  return candidates;
}

std::vector<int> CountsOf(const Judged& judged) {
  std::vector<int> counts;
  for (const Candidate& candidate : judged.configuration) counts.push_back(candidate.instances);
  return counts;
}

// Each model answers `each` requests per second with an instance; the slowest one decides.
Judge Chain(std::vector<double> each) {
  return [each](const Configuration& configuration) -> absl::StatusOr<Judged> {
    Judged judged;
    judged.configuration = configuration;
    judged.predicted.throughput = 1e9;
    for (size_t i = 0; i < each.size(); ++i) {
      judged.predicted.throughput =
          std::min(judged.predicted.throughput, each[i] * configuration[i].instances);
    }
    return judged;
  };
}

TEST(JudgeConfigurations, AllOfOneModel) {
  const auto all = JudgeConfigurations({Instances(3)}, {}, 1, Chain({10}));
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_THAT(*all, SizeIs(3));
  EXPECT_THAT(CountsOf((*all)[0]), ElementsAre(1));
}

TEST(JudgeConfigurations, AllCombinationsIfTheyAreFew) {
  const auto all = JudgeConfigurations({Instances(3), Instances(2)}, {}, 6, Chain({10, 10}));
  ASSERT_THAT(*all, SizeIs(6));
  EXPECT_THAT(CountsOf((*all)[0]), ElementsAre(1, 1));
  EXPECT_THAT(CountsOf((*all)[5]), ElementsAre(3, 2));
}

// From one instance of each, more of one model alone would bring nothing.
TEST(JudgeConfigurations, FindsBottlenecksOfSeveralModels) {
  const std::vector<std::vector<Candidate>> lists(4, Instances(8));
  const auto all = JudgeConfigurations(lists, {}, 100, Chain({10, 10, 20, 80}));
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_THAT(*all, SizeIs(Le(4 * 8 * 3)));
  EXPECT_THAT(CountsOf((*all)[0]), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(CountsOf((*all)[Best(*all, {}, 1)[0]]), ElementsAre(8, 8, 4, 1));
}

TEST(JudgeConfigurations, ImprovesBatches) {
  std::vector<Candidate> batches = Instances(2);
  batches.push_back({1, 8, true, {}, 0});
  batches.push_back({2, 8, true, {}, 0});
  batches.push_back({1, 8, true, {}, 50});
  const auto judge = [](const Configuration& configuration) -> absl::StatusOr<Judged> {
    Judged judged;
    judged.configuration = configuration;
    for (const Candidate& c : configuration) judged.predicted.throughput += c.batching ? 5 : 1;
    return judged;
  };
  const auto all = JudgeConfigurations({batches, batches}, {}, 3, judge);
  ASSERT_TRUE(all.ok()) << all.status();
  const Judged& best = (*all)[Best(*all, {}, 1)[0]];
  EXPECT_EQ(NameOf(best.configuration, {"a", "b"}),
            "a: 1 instance, batches of 8; b: 1 instance, batches of 8");
}

TEST(JudgeConfigurations, EndsWithTheFirstError) {
  const auto judge = [](const Configuration&) -> absl::StatusOr<Judged> {
    return absl::CancelledError("interrupted");
  };
  EXPECT_FALSE(JudgeConfigurations({Instances(2), Instances(2)}, {}, 1, judge).ok());
  EXPECT_FALSE(JudgeConfigurations({Instances(2)}, {}, 1, judge).ok());
}

}  // namespace
}  // namespace nereid
