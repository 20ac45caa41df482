// SPDX-License-Identifier: Apache-2.0
#include "tune/next_measurement.h"

#include <gmock/gmock.h>

namespace nereid {
namespace {

Judged Foretold(int instances, uint64_t delay_us, double throughput, double p99_us = 10) {
  Judged judged;
  judged.configuration = {{instances, 8, true, {}, delay_us}};
  judged.predicted.throughput = throughput;
  judged.predicted.p99_us = p99_us;
  return judged;
}

void Found(double throughput, double p99_us, Judged* judged) {
  judged->measured.emplace();
  judged->measured->performance.throughput = throughput;
  judged->measured->performance.p99_us = p99_us;
}

TEST(Likeness, LessTheMoreDiffers) {
  const Candidate one{2, 8, true, {4}, 100};
  EXPECT_EQ(Likeness({one}, {one}), 1);
  Candidate other = one;
  other.instances = 3;
  const double instances = Likeness({one}, {other});
  EXPECT_LT(instances, 1);
  other.max_queue_delay_us = 0;
  EXPECT_LT(Likeness({one}, {other}), instances);
  EXPECT_LT(Likeness({one, one}, {other, other}), Likeness({one, one}, {one, other}));
  EXPECT_EQ(Likeness({one}, {other}), Likeness({other}, {one}));
}

TEST(NextToMeasure, TheBestPredictionFirst) {
  std::vector<Judged> all = {Foretold(1, 0, 100), Foretold(2, 0, 150), Foretold(3, 0, 120)};
  EXPECT_EQ(NextToMeasure(all, {}), 1u);
  Found(150, 10, &all[1]);
  EXPECT_EQ(NextToMeasure(all, {}), 2u);
  Found(120, 10, &all[2]);
  Found(100, 10, &all[0]);
  EXPECT_EQ(NextToMeasure(all, {}), std::nullopt);
}

// Delays were foretold to be better, and are not.
TEST(NextToMeasure, LearnsWhereTheSimulationIsWrong) {
  std::vector<Judged> all = {Foretold(1, 50, 150), Foretold(2, 50, 150), Foretold(3, 50, 150),
                             Foretold(1, 0, 130), Foretold(2, 0, 120)};
  EXPECT_EQ(NextToMeasure(all, {}), 0u);
  Found(75, 10, &all[0]);
  EXPECT_EQ(NextToMeasure(all, {}), 3u);
  // Better than foretold: so may be what is like it.
  Found(140, 10, &all[3]);
  EXPECT_EQ(NextToMeasure(all, {}), 4u);
}

TEST(NextToMeasure, CorrectsLatenciesToo) {
  std::vector<Judged> all = {Foretold(1, 50, 150, 10), Foretold(2, 50, 150, 10),
                             Foretold(1, 0, 110, 12)};
  Found(150, 40, &all[0]);
  EXPECT_EQ(NextToMeasure(all, {Objective::kThroughput, 20}), 2u);
  EXPECT_EQ(NextToMeasure(all, {Objective::kLatency}), 2u);
}

}  // namespace
}  // namespace nereid
