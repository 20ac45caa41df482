// SPDX-License-Identifier: Apache-2.0
#include "observe/record/phases.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace nereid {
namespace {

FlightRecord Executed() {
  FlightRecord record;
  record.request_start = 1000;
  record.queue_start = 1010;
  record.pulled = 1030;
  record.exec_start = 1033;
  record.compute_start = 1040;
  record.compute_end = 1140;
  record.answered = 1150;
  record.sent = 1151;
  return record;
}

uint64_t Sum(const Phases& phases) {
  return std::accumulate(phases.ns.begin(), phases.ns.end(), uint64_t{0});
}

TEST(PhasesTest, AnExecutedRequest) {
  const Phases phases = PhasesOf(Executed());
  EXPECT_EQ(phases[Phase::kAdmission], 10u);
  EXPECT_EQ(phases[Phase::kCache], 0u);
  EXPECT_EQ(phases[Phase::kSequenceSlot], 0u);
  EXPECT_EQ(phases[Phase::kQueue], 20u);
  EXPECT_EQ(phases[Phase::kRateLimit], 0u);
  EXPECT_EQ(phases[Phase::kDispatch], 3u);
  EXPECT_EQ(phases[Phase::kComputeInput], 7u);
  EXPECT_EQ(phases[Phase::kComputeInfer], 100u);
  EXPECT_EQ(phases[Phase::kComputeOutput], 10u);
  EXPECT_EQ(phases[Phase::kSending], 1u);
  EXPECT_EQ(LatencyOf(Executed()), 151u);
}

TEST(PhasesTest, WaitsInFrontOfTheQueueAndForResources) {
  FlightRecord record = Executed();
  record.looked_up = 1012;
  record.slot = 1017;
  record.staged = 1021;
  const Phases phases = PhasesOf(record);
  EXPECT_EQ(phases[Phase::kCache], 2u);
  EXPECT_EQ(phases[Phase::kSequenceSlot], 5u);
  EXPECT_EQ(phases[Phase::kQueue], 4u);
  EXPECT_EQ(phases[Phase::kRateLimit], 9u);
  EXPECT_EQ(Sum(phases), LatencyOf(record));
}

TEST(PhasesTest, ARequestThatCameWhileItsBatchWasStaged) {
  FlightRecord record = Executed();
  record.staged = 1002;
  const Phases phases = PhasesOf(record);
  EXPECT_EQ(phases[Phase::kQueue], 0u);
  EXPECT_EQ(phases[Phase::kRateLimit], 20u);
}

TEST(PhasesTest, WithoutReportsOfTheBackendAllOfTheExecutionIsInference) {
  FlightRecord record = Executed();
  record.compute_start = record.compute_end = 0;
  const Phases phases = PhasesOf(record);
  EXPECT_EQ(phases[Phase::kComputeInput], 0u);
  EXPECT_EQ(phases[Phase::kComputeInfer], 117u);
  EXPECT_EQ(phases[Phase::kComputeOutput], 0u);
}

TEST(PhasesTest, ARequestThatNeverRanHasOnlyWaited) {
  FlightRecord record;
  record.request_start = 1000;
  record.queue_start = 1001;
  record.answered = 1050;
  record.sent = 1052;
  const Phases phases = PhasesOf(record);
  EXPECT_EQ(phases[Phase::kAdmission], 1u);
  EXPECT_EQ(phases[Phase::kQueue], 49u);
  EXPECT_EQ(phases[Phase::kSending], 2u);

  record.queue_start = 0;  // it did not even get into the queue
  EXPECT_EQ(PhasesOf(record)[Phase::kAdmission], 50u);
}

TEST(PhasesTest, ACacheHitAndAnEnsemble) {
  FlightRecord record;
  record.request_start = 1000;
  record.queue_start = 1001;
  record.answered = record.looked_up = 1050;
  record.sent = 1052;
  record.outcome = FlightOutcome::kCacheHit;
  EXPECT_EQ(PhasesOf(record)[Phase::kCache], 49u);
  EXPECT_EQ(PhasesOf(record)[Phase::kQueue], 0u);

  record.looked_up = 0;
  record.outcome = FlightOutcome::kOk;
  record.ensemble = 7;
  EXPECT_EQ(PhasesOf(record)[Phase::kSteps], 49u);
  EXPECT_EQ(PhasesOf(record)[Phase::kQueue], 0u);
}

// Whatever the times are (backends report their own), phases are the latency, cut into pieces.
TEST(PhasesTest, PhasesAddUpToTheLatency) {
  std::mt19937_64 random(20);
  const auto time = [&]() -> uint64_t {
    switch (random() % 8) {
      case 0:
        return 0;
      case 1:
        return ~uint64_t{0} - random() % 5;
      default:
        return 1000 + random() % 100;
    }
  };
  for (int i = 0; i < 200'000; ++i) {
    FlightRecord record;
    record.request_start = 1000 + random() % 50;
    for (uint64_t* at :
         {&record.queue_start, &record.looked_up, &record.slot, &record.staged, &record.pulled,
          &record.exec_start, &record.compute_start, &record.compute_end, &record.answered}) {
      *at = time();
    }
    record.sent = record.request_start + random() % 100;
    record.ensemble = random() % 4 == 0 ? 1 : 0;
    record.outcome = static_cast<FlightOutcome>(random() % kFlightOutcomes);
    const Phases phases = PhasesOf(record);
    ASSERT_EQ(Sum(phases), LatencyOf(record));
    for (const uint64_t ns : phases.ns) ASSERT_LE(ns, LatencyOf(record));
  }
}

TEST(PhasesTest, NamesDiffer) {
  for (size_t i = 0; i + 1 < kPhases; ++i) {
    EXPECT_STRNE(NameOf(static_cast<Phase>(i)), NameOf(static_cast<Phase>(i + 1)));
  }
}

}  // namespace
}  // namespace nereid
