// SPDX-License-Identifier: Apache-2.0
// The schedules here were worked out by hand from docs/reference/batching.md and sequences.md.
#include "simulation/simulate.h"

#include <gmock/gmock.h>

#include <random>

#include "base/testing/repeats.h"
#include "infer/infer_request.h"
#include "infer/testing/fake_model.h"
#include "scheduling/make_scheduler.h"
#include "simulation/event_loop.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kMs = 1'000'000;

// A batch of n units takes `base` + n * `each`.
class Machine : public MachineModel {
 public:
  explicit Machine(Duration base, Duration each = Duration(0)) : base_(base), each_(each) {}
  Duration BusyWith(const SimulatedBatch& batch) override { return base_ + batch.units * each_; }

 private:
  const Duration base_;
  const Duration each_;
};

constexpr std::chrono::milliseconds kTenMs{10};

ModelBuilder Model(int32_t max_batch = 8, int instances = 1) {
  ModelBuilder builder("m");
  builder.MaxBatch(max_batch).Input("in", DataType::kInt8, {-1}).Instances(instances);
  return builder;
}

// Requests that arrive at these milliseconds.
std::vector<SimulatedRequest> ArrivingAt(const std::vector<double>& millis) {
  std::vector<SimulatedRequest> load;
  for (const double at : millis) {
    SimulatedRequest request;
    request.arrival_ns = static_cast<uint64_t>(at * kMs);
    load.push_back(request);
  }
  return load;
}

SimulationResult RunOf(const CompiledModel& config, const std::vector<SimulatedRequest>& load,
                       Duration base = kTenMs) {
  Machine machine(base);
  absl::StatusOr<SimulationResult> result = Simulate(config, load, &machine);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : SimulationResult();
}

// "10 0 full 0,1": the millisecond at which it left, instance, reason, members.
std::vector<std::string> Batches(const SimulationResult& result) {
  std::vector<std::string> lines;
  for (const SimulatedBatch& batch : result.batches) {
    std::string line = std::to_string(batch.pulled_ns / kMs) + " " +
                       std::to_string(batch.instance) + " " + NameOf(batch.why) + " ";
    for (const uint32_t member : batch.members) {
      line += (line.back() == ' ' ? "" : ",") + std::to_string(member);
    }
    lines.push_back(line + std::string(batch.fillers, '-'));
  }
  return lines;
}

TEST(Simulate, DefaultSchedulerTakesOneRequestAfterTheOther) {
  const SimulationResult result = RunOf(Model().Build(), ArrivingAt({1, 2, 30}));
  EXPECT_THAT(Batches(result),
              ElementsAre("1 0 not_batched 0", "11 0 not_batched 1", "30 0 not_batched 2"));
  EXPECT_EQ(result.requests[1].ended_ns, 21 * kMs);
  EXPECT_EQ(result.requests[1].outcome, FlightOutcome::kOk);
}

TEST(Simulate, TwoInstancesWorkAtTheSameTime) {
  const SimulationResult result = RunOf(Model(8, 2).Build(), ArrivingAt({1, 2, 3}));
  EXPECT_THAT(Batches(result),
              ElementsAre("1 0 not_batched 0", "2 1 not_batched 1", "11 0 not_batched 2"));
}

TEST(Simulate, WhatArrivesWhileTheInstanceWorksIsABatch) {
  const SimulationResult result =
      RunOf(Model(4).Batching().Build(), ArrivingAt({1, 2, 3, 4, 5, 6, 7}));
  EXPECT_THAT(Batches(result),
              ElementsAre("1 0 idle_instance 0", "11 0 full 1,2,3,4", "21 0 idle_instance 5,6"));
}

TEST(Simulate, DelayAndPreferredSizes) {
  const CompiledModel model = Model().Batching({2}, std::chrono::milliseconds(5)).Build();
  const SimulationResult result = RunOf(model, ArrivingAt({1, 20, 22, 40}), Duration(kMs));
  EXPECT_THAT(Batches(result),
              ElementsAre("6 0 delay_over 0", "22 0 preferred_size 1,2", "45 0 delay_over 3"));
}

TEST(Simulate, RequestsOfOtherShapesDoNotJoin) {
  std::vector<SimulatedRequest> load = ArrivingAt({1, 2, 3, 4});
  load[1].shapes = load[2].shapes = 77;
  load[3].shapes = 78;
  EXPECT_THAT(Batches(RunOf(Model().Batching().Build(), load)),
              ElementsAre("1 0 idle_instance 0", "11 0 shape_change 1,2", "21 0 idle_instance 3"));
}

TEST(Simulate, PrioritiesAndTimeOuts) {
  QueuePolicy policy;
  policy.allow_timeout_override = true;
  const CompiledModel model = Model(1).Batching().Priorities(2).Policy(policy).Build();
  std::vector<SimulatedRequest> load = ArrivingAt({1, 2, 3, 4});
  load[2].timeout_us = 3000;  // is over at 6 ms, while the instance works
  load[3].priority = 1;
  const SimulationResult result = RunOf(model, load);
  EXPECT_THAT(Batches(result), ElementsAre("1 0 full 0", "11 0 full 3", "21 0 full 1"));
  EXPECT_EQ(result.requests[2].outcome, FlightOutcome::kTimedOut);
  EXPECT_EQ(result.requests[2].ended_ns / kMs, 6u);
  EXPECT_FALSE(result.requests[2].batch.has_value());
}

TEST(Simulate, FullQueueRefuses) {
  QueuePolicy policy;
  policy.max_queue_size = 1;
  const SimulationResult result =
      RunOf(Model(1).Batching().Policy(policy).Build(), ArrivingAt({1, 2, 3}));
  EXPECT_EQ(result.requests[1].outcome, FlightOutcome::kOk);
  EXPECT_EQ(result.requests[2].outcome, FlightOutcome::kRefused);
}

CompiledModel Sequences(bool oldest, uint32_t slots) {
  CompiledModel model = Model(2).Batching().Build();
  model.sequence.enabled = true;
  model.sequence.oldest = oldest;
  model.sequence.slots = slots;
  model.sequence.max_idle = std::chrono::seconds(1);
  return model;
}

// Requests of three sequences: 1 (two requests), 2 (one that starts and ends), 3 (the same).
std::vector<SimulatedRequest> ThreeSequences() {
  std::vector<SimulatedRequest> load = ArrivingAt({1, 2, 3, 4});
  const uint64_t ids[] = {1, 2, 1, 3};
  const uint32_t flags[] = {
      kRequestFlagSequenceStart, kRequestFlagSequenceStart | kRequestFlagSequenceEnd,
      kRequestFlagSequenceEnd, kRequestFlagSequenceStart | kRequestFlagSequenceEnd};
  for (size_t i = 0; i < load.size(); ++i) {
    load[i].sequence = CorrelationId(ids[i]);
    load[i].flags = flags[i];
  }
  return load;
}

TEST(Simulate, DirectSequencesHaveTheirSlots) {
  const SimulationResult result = RunOf(Sequences(/*oldest=*/false, 2), ThreeSequences());
  // Sequence 3 waits for the slot of sequence 2, which is free at 21 ms.
  ASSERT_EQ(result.batches.size(), 3u);
  EXPECT_THAT(result.batches[0].members, ElementsAre(0));
  EXPECT_EQ(result.batches[1].pulled_ns / kMs, 11u);
  EXPECT_THAT(result.batches[1].members, ElementsAre(2, 1));  // by slot
  EXPECT_EQ(result.batches[2].pulled_ns / kMs, 21u);
  EXPECT_THAT(result.batches[2].members, ElementsAre(3));
}

TEST(Simulate, OldestSequencesFormBatches) {
  const SimulationResult result = RunOf(Sequences(/*oldest=*/true, 4), ThreeSequences());
  ASSERT_EQ(result.batches.size(), 3u);
  EXPECT_THAT(result.batches[0].members, ElementsAre(0));
  // Request 2 of sequence 1 is queued when the one before it is released, at 11 ms.
  EXPECT_THAT(result.batches[1].members, ElementsAre(1, 3));
  EXPECT_THAT(result.batches[2].members, ElementsAre(2));
}

// A storm: 2,000 requests in bursts, of several priorities, sizes, shapes and time-outs.
std::vector<SimulatedRequest> Storm() {
  std::mt19937_64 random(7);
  std::vector<SimulatedRequest> load;
  uint64_t at = kMs;
  for (int i = 0; i < 2000; ++i) {
    at += random() % 10 == 0 ? random() % (20 * kMs) : random() % (kMs / 10);
    SimulatedRequest request;
    request.arrival_ns = at;
    request.batch_size = 1 + static_cast<uint32_t>(random() % 3);
    request.priority = random() % 3;
    request.timeout_us = random() % 4 == 0 ? 20'000 : 0;
    request.shapes = static_cast<uint32_t>(random() % 20 == 0);
    load.push_back(request);
  }
  return load;
}

CompiledModel StormModel() {
  QueuePolicy policy;
  policy.allow_timeout_override = true;
  return Model(8, 2)
      .Batching({4}, std::chrono::milliseconds(2))
      .Priorities(2)
      .Policy(policy)
      .Build();
}

TEST(Simulate, TheSameStormGivesTheSameBytes) {
  const std::vector<SimulatedRequest> storm = Storm();
  const auto run = [&] {
    Machine machine(std::chrono::microseconds(700), std::chrono::microseconds(150));
    return BatchesText(*Simulate(StormModel(), storm, &machine));
  };
  const std::string first = run();
  EXPECT_THAT(first, HasSubstr("preferred_size"));
  EXPECT_THAT(first, HasSubstr("delay_over"));
  for (int i = 1; i < Repeats(100); ++i) ASSERT_EQ(run(), first) << "run " << i;
}

// A scheduler that forms batches like the real one, except that it believes every request to have
// the shape of the first: a batcher broken on purpose.
TEST(Simulate, ABrokenBatcherIsToldApart) {
  const std::vector<SimulatedRequest> storm = Storm();
  const CompiledModel model = StormModel();
  CompiledModel broken = model;
  broken.needs_shape_equality = false;
  const auto run = [&](const CompiledModel& believed) {
    Machine machine(std::chrono::microseconds(700), std::chrono::microseconds(150));
    EventLoop loop(model, storm, &machine);
    return BatchesText(*loop.Run([&](const CompiledModel&) {
      SchedulerTools tools;
      tools.clock = loop.clock();
      tools.timer = loop.timer();
      BackendTraits backend;
      backend.make_strategy = [] { return std::unique_ptr<BatchStrategy>(); };
      return MakeScheduler(believed, "", tools, backend);
    }));
  };
  EXPECT_EQ(run(model), run(model));
  EXPECT_NE(run(model), run(broken));
}

TEST(Simulate, AnInstanceThatSleepsTakesWhatArrivesUntilItLooks) {
  class SlowToWake final : public Machine {
   public:
    using Machine::Machine;
    uint64_t LooksAt(uint64_t due_ns, std::optional<uint32_t> oldest) override {
      return due_ns + (oldest == 0u ? 3 * kMs : 0);
    }
  };
  SlowToWake machine(kTenMs);
  const auto result = Simulate(Model(8, 2).Batching().Build(), ArrivingAt({1, 2, 30}), &machine);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Batches(*result), ElementsAre("4 0 idle_instance 0,1", "30 0 idle_instance 2"));
}

TEST(Simulate, AdaptiveBatchingLearnsFromTheSimulatedTimes) {
  CompiledModel model = Model(8).Batching().Build();
  model.parameters["nereid.target_p99_us"] = "50000";
  std::vector<double> at;
  for (int i = 0; i < 3000; ++i) at.push_back(1 + i);
  Machine machine(std::chrono::milliseconds(2), std::chrono::microseconds(100));
  const auto result = Simulate(model, ArrivingAt(at), &machine);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(Summarise(ArrivingAt(at), *result).mean_batch, 2);
}

TEST(Simulate, SummaryCountsWhatWasExecuted) {
  const std::vector<SimulatedRequest> load = ArrivingAt({1, 2, 3, 4, 5});
  const SimulationSummary summary = Summarise(load, RunOf(Model(4).Batching().Build(), load));
  EXPECT_EQ(summary.executed, 5u);
  EXPECT_EQ(summary.p50_ns, 17 * kMs);  // 10, 16, 17, 18, 19 ms
  EXPECT_DOUBLE_EQ(summary.mean_batch, 2.5);
}

TEST(Simulate, WhatCannotBeSimulatedIsRefused) {
  Machine machine(kTenMs);
  EXPECT_THAT(Simulate(Model().Build(), ArrivingAt({2, 1}), &machine).status().message(),
              HasSubstr("order of their arrivals"));
  CompiledModel ensemble = Model().Build();
  ensemble.ensemble.steps.emplace_back();
  EXPECT_THAT(Simulate(ensemble, {}, &machine).status().message(), HasSubstr("is an ensemble"));
  EXPECT_THAT(Simulate(Model(8, 0).Build(), {}, &machine).status().message(),
              HasSubstr("no instance"));
  std::vector<SimulatedRequest> load = ArrivingAt({1});
  CompiledModel huge = Model().Input("b", DataType::kFp64, {int64_t{1} << 40}).Build();
  EXPECT_THAT(Simulate(huge, load, &machine).status().message(), HasSubstr("input 'b'"));
}

// Two clients, one instance without batches: each waits for the other's execution, and pauses.
TEST(SimulateClosedLoop, ClientsSendWhenTheyHaveTheirAnswers) {
  Machine machine(kTenMs);
  std::vector<SimulatedRequest> load(4);
  const auto result =
      SimulateClosedLoop(Model(1).Build(), {2, std::chrono::milliseconds(3)}, &load, &machine);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(load[1].arrival_ns, 1u);
  EXPECT_EQ(load[2].arrival_ns, 1 + 13 * kMs);
  EXPECT_EQ(load[3].arrival_ns, 1 + 23 * kMs);
  EXPECT_EQ(result->requests[3].ended_ns, 1 + 40 * kMs);
}

TEST(SimulateClosedLoop, MoreClientsThanRequests) {
  Machine machine(kTenMs);
  std::vector<SimulatedRequest> load(2);
  const auto result =
      SimulateClosedLoop(Model(8).Batching().Build(), {5, Duration(0)}, &load, &machine);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->batches.size(), 1u);
  EXPECT_THAT(
      SimulateClosedLoop(Model().Build(), {0, Duration(0)}, &load, &machine).status().message(),
      HasSubstr("at least one client"));
}

}  // namespace
}  // namespace nereid
