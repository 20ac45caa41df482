// SPDX-License-Identifier: Apache-2.0
#include "simulation/pipeline.h"

#include <gmock/gmock.h>

#include "simulation/simulated_config.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kMs = 1'000'000;

CompiledModel Model(const std::string& more = "") {
  const auto model = ModelFromJson(
      "{\"name\":\"m\",\"backend\":\"identity\",\"max_batch_size\":4,"
      "\"input\":[{\"name\":\"i\",\"data_type\":\"TYPE_FP32\",\"dims\":[1]}],"
      "\"output\":[{\"name\":\"o\",\"data_type\":\"TYPE_FP32\",\"dims\":[1]}]" +
      more + "}");
  EXPECT_TRUE(model.ok()) << model.status();
  return *model;
}

class Busy final : public MachineModel {
 public:
  explicit Busy(uint64_t ms) : busy_(static_cast<int64_t>(ms * kMs)) {}
  Duration BusyWith(const SimulatedBatch& batch) override {
    most_units = std::max(most_units, batch.units);
    return busy_;
  }
  uint32_t most_units = 0;

 private:
  const Duration busy_;
};

class Entry final : public MachineModel {
 public:
  uint64_t QueuesAt(uint64_t now_ns) override { return now_ns + delay_ns; }
  Duration BusyWith(const SimulatedBatch&) override { return Duration(0); }
  uint64_t delay_ns = 0;
};

std::vector<SimulatedRequest> At(const std::vector<uint64_t>& ms) {
  std::vector<SimulatedRequest> load;
  for (const uint64_t at : ms) load.emplace_back().arrival_ns = 1 + at * kMs;
  return load;
}

std::vector<uint64_t> EndsMs(const SimulationResult& result) {
  std::vector<uint64_t> ends;
  for (const SimulatedOutcome& request : result.requests) {
    EXPECT_EQ(request.outcome, FlightOutcome::kOk);
    ends.push_back(request.ended_ns / kMs);
  }
  return ends;
}

EnsembleStep Step(const std::string& model, std::vector<std::string> inputs, std::string output) {
  EnsembleStep step;
  step.model_name = model;
  for (const std::string& input : inputs) step.inputs.push_back({"i", input});
  step.outputs.push_back({"o", output});
  return step;
}

TEST(StepsOf, FollowTheTensors) {
  EnsembleSpec diamond;
  diamond.steps = {Step("join", {"l", "r"}, "out"), Step("a", {"in"}, "l"), Step("b", {"in"}, "r"),
                   Step("a", {"out"}, "last")};
  EXPECT_THAT(ModelsOfSteps(diamond), ElementsAre("join", "a", "b"));
  const std::vector<PipelineStep> steps = StepsOf(diamond);
  EXPECT_THAT(steps[0].after, ElementsAre(1, 2));
  EXPECT_THAT(steps[1].after, IsEmpty());
  EXPECT_THAT(steps[3].after, ElementsAre(0));
  EXPECT_EQ(steps[3].model, 1u);
}

TEST(SimulatePipeline, StepsOverlapOfDifferentRequests) {
  const Pipeline chain{{Model(), Model()}, {{0, {}}, {1, {0}}}};
  Busy first(10);
  Busy second(20);
  Entry entry;
  auto load = At({0, 0, 100});
  const auto result = SimulatePipeline(chain, {&entry, {&first, &second}}, {}, &load);
  ASSERT_TRUE(result.ok()) << result.status();
  // The second step is the bottleneck: it begins with the second request when it is done with the
  // first one.
  EXPECT_THAT(EndsMs(*result), ElementsAre(30, 50, 130));
  EXPECT_EQ(Summarise(load, *result).executed, 3u);
}

TEST(SimulatePipeline, StepsRunBesideEachOther) {
  const Pipeline diamond{{Model(), Model(), Model()}, {{0, {}}, {1, {}}, {2, {0, 1}}}};
  Busy left(10);
  Busy right(30);
  Busy join(5);
  Entry entry;
  entry.delay_ns = 2 * kMs;
  auto load = At({0});
  const auto result = SimulatePipeline(diamond, {&entry, {&left, &right, &join}}, {}, &load);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(EndsMs(*result), ElementsAre(37));
}

TEST(SimulatePipeline, AModelOfTwoStepsJoinsTheirBatches) {
  const Pipeline twice{{Model(",\"dynamic_batching\":{}")}, {{0, {}}, {0, {0}}}};
  Busy machine(10);
  Entry entry;
  auto load = At({0, 10, 20, 30});
  const auto result = SimulatePipeline(twice, {&entry, {&machine}}, {}, &load);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(EndsMs(*result), ElementsAre(20, 30, 40, 50));
  EXPECT_EQ(machine.most_units, 2u);
}

TEST(SimulatePipeline, AClosedLoop) {
  const Pipeline chain{{Model(), Model()}, {{0, {}}, {1, {0}}}};
  Busy first(10);
  Busy second(10);
  Entry entry;
  std::vector<SimulatedRequest> load(4);
  const auto result = SimulatePipeline(chain, {&entry, {&first, &second}},
                                       ClosedLoop{1, std::chrono::milliseconds(5)}, &load);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(EndsMs(*result), ElementsAre(20, 45, 70, 95));
  EXPECT_EQ(load[3].arrival_ns, 1 + 75 * kMs);
}

TEST(SimulatePipeline, ARequestFailsWithItsStep) {
  const std::string policy =
      ",\"dynamic_batching\":{\"default_queue_policy\":{\"timeout_action\":\"REJECT\","
      "\"default_timeout_microseconds\":5000}}";
  const Pipeline chain{{Model(policy), Model()}, {{0, {}}, {1, {0}}}};
  Busy first(10);
  Busy second(10);
  Entry entry;
  auto load = At({0, 1});
  load[0].batch_size = 4;  // fills the instance
  load[1].batch_size = 4;
  const auto result = SimulatePipeline(chain, {&entry, {&first, &second}}, {}, &load);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->requests[0].ended_ns / kMs, 20u);
  EXPECT_EQ(result->requests[1].outcome, FlightOutcome::kTimedOut);
  EXPECT_FALSE(result->requests[1].batch.has_value());
}

TEST(SimulatePipeline, WhatCannotBeSimulated) {
  Busy machine(1);
  Entry entry;
  std::vector<SimulatedRequest> load(1);
  EXPECT_THAT(SimulatePipeline({{Model()}, {}}, {&entry, {&machine}}, {}, &load).status().message(),
              HasSubstr("at least one step"));
  EXPECT_THAT(
      SimulatePipeline({{Model()}, {{0, {}}}}, {&entry, {&machine}}, ClosedLoop{0, {}}, &load)
          .status()
          .message(),
      HasSubstr("at least one client"));
  load[0].arrival_ns = 0;
  EXPECT_THAT(
      SimulatePipeline({{Model()}, {{0, {}}}}, {&entry, {&machine}}, {}, &load).status().message(),
      HasSubstr("in the order of their arrivals"));
}

}  // namespace
}  // namespace nereid
