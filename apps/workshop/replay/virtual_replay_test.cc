// SPDX-License-Identifier: Apache-2.0
#include "replay/virtual_replay.h"

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "replay/replay_text.h"
#include "scheduling/batch.h"
#include "simulation/simulated_config.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kMs = 1'000'000;

CompiledModel Config(int max_batch) {
  const auto config = ModelFromJson(
      "{\"name\":\"m\",\"backend\":\"identity\",\"max_batch_size\":" + std::to_string(max_batch) +
      ",\"input\":[{\"name\":\"i\",\"data_type\":\"TYPE_FP32\",\"dims\":[1]}],"
      "\"output\":[{\"name\":\"o\",\"data_type\":\"TYPE_FP32\",\"dims\":[1]}],"
      "\"dynamic_batching\":{}}");
  EXPECT_TRUE(config.ok()) << config.status();
  return *config;
}

// Request 0 runs alone from 1 to 11 ms; 1, 2 and 3 come meanwhile and run together.
RecordedModel Recorded() {
  RecordedModel model;
  model.name = "m";
  for (uint64_t i = 0; i < 4; ++i) {
    RecordedRequest request;
    request.id = "r" + std::to_string(i);
    request.queued_ns = (1 + i) * kMs;
    request.instance = 1;
    request.batch = i == 0 ? 1 : 2;
    request.outcome = "ok";
    model.requests.push_back(request);
  }
  RecordedBatch first;
  first.instance = first.number = first.requests = first.units = 1;
  first.pulled_ns = 1 * kMs;
  first.ended_ns = 11 * kMs;
  first.reason = "idle_instance";
  RecordedBatch second = first;
  second.number = 2;
  second.requests = second.units = 3;
  second.pulled_ns = 11 * kMs + 1000;
  second.ended_ns = 21 * kMs;
  model.batches = {first, second};
  return model;
}

TEST(ReplayVirtually, ReproducesWhatTheSchedulerDid) {
  const RecordedModel model = Recorded();
  const auto replay = ReplayVirtually(model, Config(8));
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_EQ(replay->compared, 2u);
  EXPECT_EQ(replay->reproduced, 2u) << replay->first_difference;
  EXPECT_EQ(replay->first_difference, "");
  EXPECT_EQ(replay->result.batches[1].ended_ns, 21 * kMs);
}

TEST(ReplayVirtually, ExplainsTheFirstDifference) {
  const RecordedModel model = Recorded();
  const auto replay = ReplayVirtually(model, Config(2));
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_EQ(replay->reproduced, 1u);
  EXPECT_EQ(replay->first_difference,
            "at 10.001 ms (idle_instance) the server took #1 'r1', #2 'r2', #3 'r3'; in virtual "
            "time it was #1 'r1', #2 'r2', at 10.001 ms (full)");
}

TEST(ReplayVirtually, SaysWhatTakesNoPart) {
  RecordedModel model = Recorded();
  const auto text_of = [&model] {
    const auto replay = ReplayVirtually(model, Config(8));
    EXPECT_TRUE(replay.ok()) << replay.status();
    return ReplayText(model, Config(8), *replay) + ReplayJson(model, Config(8), *replay);
  };
  EXPECT_THAT(text_of(), Not(HasSubstr("not replayed")));
  model.batches[1].staged_ns = 11 * kMs;
  model.batches[0].reason = "strategy";
  const std::string text = text_of();
  EXPECT_THAT(text, HasSubstr("the rate limiter, for which 1 of the recorded executions waited\n"));
  EXPECT_THAT(text, HasSubstr("own batching, which closed 1 of the recorded batches\n"));
  EXPECT_THAT(text, HasSubstr(R"("rate_limited_batches":1,"strategy_batches":1,)"));
}

TEST(ReplayVirtually, ComparesOnlyWhatIsComplete) {
  RecordedModel model = Recorded();
  model.requests[2].outcome = "cache_hit";  // pretends to have been in the batch
  const auto replay = ReplayVirtually(model, Config(8));
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_EQ(replay->left_out_requests, 1u);
  EXPECT_EQ(replay->incomplete_batches, 1u);
  EXPECT_EQ(replay->compared, 1u);
  model.requests.clear();
  EXPECT_THAT(ReplayVirtually(model, Config(8)).status().message(), HasSubstr("no request"));
}

// ---- A storm that the scheduler has served in virtual time, recorded and replayed.

CompiledModel StormConfig() {
  const auto config = ModelFromJson(
      R"({"name":"m","backend":"identity","max_batch_size":8,
          "input":[{"name":"i","data_type":"TYPE_FP32","dims":[-1]}],
          "output":[{"name":"o","data_type":"TYPE_FP32","dims":[-1]}],
          "instance_group":[{"kind":"KIND_CPU","count":2}],
          "dynamic_batching":{"max_queue_delay_microseconds":2000,"priority_levels":2,
                              "default_priority_level":2}})");
  EXPECT_TRUE(config.ok()) << config.status();
  return *config;
}

// Bursts with pauses, of two priorities, several sizes and two shapes.
std::vector<SimulatedRequest> Storm() {
  std::mt19937_64 random(11);
  std::vector<SimulatedRequest> load;
  uint64_t at = kMs;
  for (int i = 0; i < 600; ++i) {
    at += random() % 12 == 0 ? random() % (20 * kMs) : random() % (kMs / 4);
    SimulatedRequest request;
    request.arrival_ns = at;
    request.batch_size = 1 + static_cast<uint32_t>(random() % 3);
    request.priority = 1 + random() % 2;
    request.shapes = 1 + static_cast<uint32_t>(random() % 20 == 0);
    load.push_back(request);
  }
  return load;
}

class StormMachine final : public MachineModel {
 public:
  Duration BusyWith(const SimulatedBatch& batch) override {
    return std::chrono::microseconds(700 + 150 * batch.units);
  }
};

// As `nereid --record` would have written it.
RecordedModel RecordedStorm() {
  const std::vector<SimulatedRequest> storm = Storm();
  StormMachine machine;
  const auto served = Simulate(StormConfig(), storm, &machine);
  EXPECT_TRUE(served.ok()) << served.status();
  RecordedModel model;
  model.name = "m";
  for (const SimulatedRequest& request : storm) {
    RecordedRequest recorded;
    recorded.queued_ns = request.arrival_ns;
    recorded.size = request.batch_size;
    recorded.priority = request.priority;
    recorded.shapes = request.shapes;
    recorded.outcome = "ok";
    model.requests.push_back(recorded);
  }
  std::map<uint64_t, uint64_t> numbers;  // by instance
  for (const SimulatedBatch& batch : served->batches) {
    RecordedBatch recorded;
    recorded.instance = batch.instance + 1;
    recorded.number = ++numbers[recorded.instance];
    recorded.pulled_ns = batch.pulled_ns;
    recorded.ended_ns = batch.ended_ns;
    recorded.requests = batch.members.size();
    recorded.units = batch.units;
    recorded.reason = NameOf(batch.why);
    for (const uint32_t member : batch.members) {
      model.requests[member].instance = recorded.instance;
      model.requests[member].batch = recorded.number;
    }
    model.batches.push_back(recorded);
  }
  return model;
}

TEST(ReplayVirtually, ARecordedStormGivesTheSameBytesEachTime) {
  const RecordedModel storm = RecordedStorm();
  const auto first = ReplayVirtually(storm, StormConfig());
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_GT(first->compared, 100u);
  EXPECT_EQ(first->reproduced, first->compared) << first->first_difference;
  const std::string bytes = BatchesText(first->result);
  for (const char* const reason : {"full", "delay_over", "shape_change"}) {
    EXPECT_THAT(bytes, HasSubstr(reason));
  }
  for (int i = 1; i < 100; ++i) {
    ASSERT_EQ(BatchesText(ReplayVirtually(storm, StormConfig())->result), bytes) << "replay " << i;
  }
}

// Batchers that are broken on purpose: each believes something else than the configuration says.
TEST(ReplayVirtually, ABrokenBatcherIsToldApartByARecordedStorm) {
  const std::map<std::string, std::function<void(CompiledModel*)>> faults = {
      {"takes one request fewer", [](CompiledModel* model) { --model->max_batch_size; }},
      {"takes one request more", [](CompiledModel* model) { ++model->max_batch_size; }},
      {"ignores the delay",
       [](CompiledModel* model) { model->batching.max_queue_delay = Duration(0); }},
      {"waits twice as long", [](CompiledModel* model) { model->batching.max_queue_delay *= 2; }},
      {"ignores priorities", [](CompiledModel* model) { model->batching.priority_levels = 0; }},
      {"ignores shapes", [](CompiledModel* model) { model->needs_shape_equality = false; }},
  };
  const RecordedModel storm = RecordedStorm();
  const std::string bytes = BatchesText(ReplayVirtually(storm, StormConfig())->result);
  for (const auto& [name, fault] : faults) {
    CompiledModel broken = StormConfig();
    fault(&broken);
    const auto replay = ReplayVirtually(storm, broken);
    ASSERT_TRUE(replay.ok()) << name << ": " << replay.status();
    EXPECT_NE(BatchesText(replay->result), bytes) << name;
    EXPECT_LT(replay->reproduced, replay->compared) << name;
    EXPECT_THAT(replay->first_difference, HasSubstr("the server took #")) << name;
  }
}

}  // namespace
}  // namespace nereid
