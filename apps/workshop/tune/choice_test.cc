// SPDX-License-Identifier: Apache-2.0
#include "tune/choice.h"

#include <gmock/gmock.h>

namespace nereid {
namespace {

using ::testing::ElementsAre;

Judged Predicted(int instances, double throughput, double p99_us, uint64_t delay_us = 0) {
  Judged judged;
  Candidate& candidate = judged.configuration.emplace_back();
  candidate.instances = instances;
  candidate.max_queue_delay_us = delay_us;
  judged.predicted.throughput = throughput;
  judged.predicted.p99_us = p99_us;
  return judged;
}

TEST(Best, TheLargestThroughputThatKeepsTheLimit) {
  const std::vector<Judged> all = {Predicted(1, 100, 5), Predicted(2, 200, 9),
                                   Predicted(3, 300, 21)};
  EXPECT_THAT(Best(all, {Objective::kThroughput, 20, 0}, 3), ElementsAre(1, 0, 2));
  EXPECT_THAT(Best(all, {Objective::kThroughput, 0, 0}, 1), ElementsAre(2));
}

TEST(Best, TheLowestLatency) {
  const std::vector<Judged> all = {Predicted(1, 100, 5), Predicted(2, 200, 4)};
  EXPECT_THAT(Best(all, {Objective::kLatency, 0, 0}, 5), ElementsAre(1, 0));
}

TEST(Best, AmongEqualsTheOneThatNeedsLess) {
  const std::vector<Judged> all = {Predicted(4, 100, 5), Predicted(2, 99, 6),
                                   Predicted(2, 98, 4, 50), Predicted(1, 90, 4)};
  EXPECT_THAT(Best(all, {Objective::kThroughput, 0, 0}, 4), ElementsAre(1, 2, 0, 3));
}

TEST(Best, AChangeHasToBeWorthIt) {
  std::vector<Judged> all = {Predicted(2, 100, 5, 50), Predicted(2, 102, 4)};
  EXPECT_THAT(Best(all, {}, 1), ElementsAre(1));
  all[0].today = true;
  EXPECT_THAT(Best(all, {}, 1), ElementsAre(0));
  all.push_back(Predicted(1, 100, 5));  // takes less
  EXPECT_THAT(Best(all, {}, 1), ElementsAre(2));
}

TEST(Best, AmongEqualsTheOneWithFewerThreads) {
  std::vector<Judged> all = {Predicted(1, 100, 5), Predicted(1, 99, 6), Predicted(1, 98, 7)};
  all[1].configuration[0].engine.threads = 2;
  all[2].configuration[0].engine.threads = 1;
  EXPECT_THAT(Best(all, {Objective::kThroughput, 0, 0}, 3), ElementsAre(2, 1, 0));
}

TEST(Best, WithoutAnyThatKeepsTheGoalTheNearestOne) {
  const std::vector<Judged> all = {Predicted(1, 100, 50), Predicted(2, 50, 30)};
  EXPECT_THAT(Best(all, {Objective::kThroughput, 20, 0}, 1), ElementsAre(1));
}

TEST(Best, WhatWasMeasuredCounts) {
  std::vector<Judged> all = {Predicted(1, 100, 5), Predicted(2, 200, 5)};
  all[1].measured.emplace();
  all[1].measured->performance.throughput = 80;
  all[1].measured->performance.p99_us = 5;
  EXPECT_THAT(Best(all, {Objective::kThroughput, 0, 0}, 1), ElementsAre(0));
  all[1].measured->performance.throughput = 200;
  EXPECT_THAT(Best(all, {Objective::kThroughput, 0, 0}, 1), ElementsAre(1));
  all[1].measured->errors = 1;
  EXPECT_FALSE(Keeps(all[1], {}));
  EXPECT_THAT(Best(all, {Objective::kThroughput, 0, 0}, 1), ElementsAre(0));
}

TEST(Best, Memory) {
  std::vector<Judged> all = {Predicted(1, 100, 5), Predicted(2, 200, 5)};
  all[0].predicted_memory_mib = 100;
  all[1].predicted_memory_mib = 200;
  EXPECT_THAT(Best(all, {Objective::kThroughput, 0, 150}, 1), ElementsAre(0));
  all[1].measured.emplace();
  all[1].measured->performance = all[1].predicted;
  all[1].measured->memory_mib = 140;
  EXPECT_THAT(Best(all, {Objective::kThroughput, 0, 150}, 1), ElementsAre(1));
}

TEST(Best, TheLeastMemoryThatSuffices) {
  std::vector<Judged> all = {Predicted(1, 100, 5), Predicted(2, 200, 4), Predicted(3, 300, 3)};
  for (size_t i = 0; i < all.size(); ++i) all[i].predicted_memory_mib = 100.0 * (1.0 + i);
  Goal goal;
  goal.objective = Objective::kMemory;
  goal.min_throughput = 150;
  EXPECT_THAT(Best(all, goal, 3), ElementsAre(1, 2, 0));
  goal.p99_us = 3.5;
  EXPECT_THAT(Best(all, goal, 1), ElementsAre(2));
  // None suffices: the nearest misses both limits, but by less than the others.
  goal.min_throughput = 1000;
  goal.p99_us = 2.5;
  EXPECT_THAT(Best(all, goal, 1), ElementsAre(2));
}

TEST(ToConfirm, ThoseThatMayBeTheBest) {
  const Goal goal;
  EXPECT_THAT(ToConfirm({Predicted(1, 100, 5), Predicted(2, 84, 5)}, goal), ElementsAre());
  EXPECT_THAT(ToConfirm({Predicted(1, 100, 5), Predicted(2, 50, 5), Predicted(3, 90, 5)}, goal),
              ElementsAre(0, 2));
  EXPECT_THAT(ToConfirm({Predicted(4, 100, 5), Predicted(3, 99, 5), Predicted(2, 98, 5),
                         Predicted(1, 97, 5)},
                        goal),
              ElementsAre(3, 2, 1));
  // What does not keep the goal is no alternative.
  EXPECT_THAT(
      ToConfirm({Predicted(1, 100, 5), Predicted(2, 99, 50)}, {Objective::kThroughput, 20, 0}),
      ElementsAre());
}

TEST(ToConfirm, TodaysIsNotGivenUpAfterOneMeasurement) {
  std::vector<Judged> all = {Predicted(1, 70, 5), Predicted(2, 100, 5)};
  EXPECT_THAT(ToConfirm(all, {}), ElementsAre());
  all[0].today = true;
  EXPECT_THAT(ToConfirm(all, {}), ElementsAre(1, 0));
  // It takes the place of the last of three.
  for (const int instances : {3, 4}) all.push_back(Predicted(instances, 100, 5));
  EXPECT_THAT(ToConfirm(all, {}), ElementsAre(1, 2, 0));
  all[0].predicted.throughput = 59;  // luck is not that large
  EXPECT_THAT(ToConfirm(all, {}), ElementsAre(1, 2, 3));
}

Judged Measured(int instances, double throughput, double p99_us, int times) {
  Judged judged = Predicted(instances, throughput, p99_us);
  judged.measured.emplace();
  judged.measured->performance = judged.predicted;
  judged.measured->times = times;
  return judged;
}

TEST(ToConfirm, WhatChallengesThoseThatWereConfirmed) {
  const Goal goal;
  // One measurement that is hardly better, even with fewer instances, says nothing.
  std::vector<Judged> all = {Measured(2, 100, 5, 3), Measured(3, 101, 5, 3),
                             Measured(1, 102, 5, 1)};
  EXPECT_THAT(ToConfirm(all, goal), ElementsAre());
  EXPECT_EQ(Chosen(all, goal), 0u);
  all.push_back(Measured(4, 105, 5, 1));
  EXPECT_THAT(ToConfirm(all, goal), ElementsAre(3, 0));
  EXPECT_EQ(Chosen(all, goal), 3u);
  for (const int instances : {5, 6, 7}) all.push_back(Measured(instances, 120, 5, 1));
  EXPECT_THAT(ToConfirm(all, goal), ElementsAre(4, 5, 0));
  // The only one that keeps the goal.
  all = {Measured(1, 100, 50, 3), Measured(2, 60, 10, 1)};
  EXPECT_THAT(ToConfirm(all, {Objective::kThroughput, 20, 0}), ElementsAre(1, 0));
  EXPECT_EQ(Chosen(all, {Objective::kThroughput, 20, 0}), 1u);
}

TEST(Chosen, OfThoseThatWereMeasuredOnce) {
  EXPECT_EQ(Chosen({Measured(1, 100, 5, 1), Measured(2, 200, 5, 1)}, {}), 1u);
}

TEST(MedianOf, EachValue) {
  Measurement first;
  first.performance = {4, 100, 10, 20, 2};
  first.errors = 1;
  first.memory_mib = 50;
  Measurement again;
  again.performance = {4, 130, 16, 50, 5};
  again.errors = 2;
  again.memory_mib = 56;
  const Measurement twice = MedianOf({first, again});
  EXPECT_EQ(twice.times, 2);
  EXPECT_EQ(twice.errors, 3u);
  EXPECT_DOUBLE_EQ(twice.performance.throughput, 115);
  EXPECT_DOUBLE_EQ(twice.performance.p99_us, 35);
  EXPECT_DOUBLE_EQ(twice.memory_mib, 53);
  // One that other work of the machine has disturbed does not count.
  first.performance.throughput = 10;
  const Measurement thrice = MedianOf({again, first, again});
  EXPECT_EQ(thrice.times, 3);
  EXPECT_DOUBLE_EQ(thrice.performance.throughput, 130);
  EXPECT_DOUBLE_EQ(thrice.performance.mean_batch, 5);
}

TEST(Frontier, LeavesOutWhatIsBeaten) {
  const std::vector<Judged> all = {Predicted(1, 100, 5), Predicted(1, 200, 9),
                                   Predicted(1, 150, 10), Predicted(1, 100, 6)};
  EXPECT_THAT(Frontier(all), ElementsAre(0, 1));
}

}  // namespace
}  // namespace nereid
