// SPDX-License-Identifier: Apache-2.0
#include "capacity/capacity.h"

#include <gmock/gmock.h>

#include <fstream>

#include "simulation/simulated_config.h"
#include "tune/tune_state.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

constexpr char kModel[] =
    "{\"name\":\"m\",\"backend\":\"identity\",\"max_batch_size\":8,"
    "\"input\":[{\"name\":\"i\",\"data_type\":\"TYPE_FP32\",\"dims\":[1]}],"
    "\"output\":[{\"name\":\"o\",\"data_type\":\"TYPE_FP32\",\"dims\":[1]}]}";

// One instance that takes 10 ms for a request; 1 ms outside.
MeasuredNode Node() {
  MeasuredNode node;
  const auto model = ModelFromJson(kModel);
  EXPECT_TRUE(model.ok()) << model.status();
  node.candidate = {1, 8, false, {}, 0};
  node.model = With(*model, node.candidate);
  node.times.by_batch_us = {{1, 10'000}, {8, 80'000}};
  node.times.slowdown = {{1, {{1, 1}}}};
  node.times.overhead_us = 1000;
  return node;
}

CapacityOptions Options(const std::vector<std::string>& more) {
  std::vector<std::string> args = {"m", "--times=t", "--arrivals=constant", "--rate=250",
                                   "--seconds=10"};
  args.insert(args.end(), more.begin(), more.end());
  const auto options = ParseCapacityOptions(args);
  EXPECT_TRUE(options.ok()) << options.status();
  return options.ok() ? *options : CapacityOptions();
}

CapacityResult Found(const CapacityOptions& options) {
  const auto result = FindCapacity(options, Node());
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : CapacityResult();
}

TEST(FindCapacity, OneNodeAlone) {
  const CapacityResult result = Found(*ParseCapacityOptions({"m", "--times=t"}));
  ASSERT_EQ(result.alone.size(), 7u);
  EXPECT_EQ(result.alone[1].concurrency, 2);
  EXPECT_NEAR(result.alone[0].throughput, 1000 / 11.0, 1);
  EXPECT_NEAR(result.alone[6].throughput, 100, 1);
  EXPECT_TRUE(result.rows.empty());
}

// A node serves 100 requests per second.
TEST(FindCapacity, TheFewestNodes) {
  const CapacityResult result = Found(Options({"--p99-ms=20"}));
  ASSERT_TRUE(result.chosen.has_value());
  EXPECT_EQ(result.rows[*result.chosen].nodes, 3u);
  ASSERT_EQ(result.rows.size(), 4u);  // 1, 2, 3, 4
  EXPECT_NEAR(result.rows[1].summary.throughput, 200, 3);
  EXPECT_FALSE(result.rows[1].keeps_goal);
  EXPECT_NEAR(result.rows[2].p99_us, 11'000, 1);
  EXPECT_EQ(result.requests, 2500u);
  EXPECT_EQ(Found(Options({"--p99-ms=20", "--rate=50"})).rows.size(), 1u);
}

TEST(FindCapacity, AnotherSeedGivesOtherArrivals) {
  const auto requests = [](const char* seed) {
    return Found(Options({"--arrivals=poisson", "--nodes=1", seed})).requests;
  };
  EXPECT_EQ(requests("--seed=3"), requests("--seed=3"));
  EXPECT_NE(requests("--seed=3"), requests("--seed=4"));
}

TEST(FindCapacity, NoNumberOfNodesIsEnough) {
  const CapacityResult result = Found(Options({"--p99-ms=20", "--max-nodes=2"}));
  EXPECT_FALSE(result.chosen.has_value());
  EXPECT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(Found(Options({"--p99-ms=10.9", "--max-nodes=5"})).rows.size(), 4u);  // 1, 2, 4, 5
}

TEST(FindCapacity, SoManyNodes) {
  const CapacityResult result = Found(Options({"--nodes=5", "--p99-ms=20"}));
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_NEAR(result.rows[0].summary.busy, 0.5, 0.01);
  ASSERT_EQ(result.periods.size(), 24u);
  EXPECT_NEAR(result.periods[0].rate, 250, 5);
  EXPECT_NEAR(result.periods[23].p99_us, 11'000, 1);
  EXPECT_DOUBLE_EQ(result.periods[5].ready, 5);
}

TEST(FindCapacity, AnAutoscalerGrowsWithTheLoad) {
  const CapacityResult result =
      Found(*ParseCapacityOptions({"m", "--times=t", "--day=10,250", "--seconds=480", "--target=2",
                                   "--max-nodes=6", "--start-seconds=5", "--p99-ms=100"}));
  ASSERT_EQ(result.periods.size(), 24u);
  EXPECT_DOUBLE_EQ(result.periods[0].ready, 1);
  EXPECT_GE(result.periods[23].ready, 3);
  EXPECT_LT(result.rows[0].node_seconds, 6 * 480);
  EXPECT_LT(result.rows[0].summary.late, result.requests / 10);
}

// 20 ms of a processor for a request, of which 10 ms are outside its execution.
TEST(FindCapacity, ProcessorsLimitANode) {
  MeasuredNode node = Node();
  node.times.cpu_us = 20'000;
  node.times.processors = 1;
  const auto result = FindCapacity(Options({"--p99-ms=100"}), node);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_NEAR(result->alone[6].throughput, 50, 3);
  EXPECT_EQ(result->rows[*result->chosen].nodes, 5u);
}

TEST(FindCapacity, WhatTheModelDoesNotAllow) {
  CapacityOptions options = Options({"--nodes=1"});
  options.load.batch_size = 9;
  EXPECT_THAT(FindCapacity(options, Node()).status().message(), HasSubstr("largest batch is 8"));
  MeasuredNode node = Node();
  node.model.sequence.enabled = true;
  EXPECT_THAT(FindCapacity(Options({"--nodes=1"}), node).status().message(),
              HasSubstr("serves sequences"));
  options = Options({"--nodes=1"});
  options.load.rate = 0.001;
  EXPECT_THAT(FindCapacity(options, Node()).status().message(), HasSubstr("no request comes"));
}

class MeasuredNodeFile : public ::testing::Test {
 protected:
  absl::StatusOr<MeasuredNode> Read(const TuneState& state, const std::string& config = "") {
    const std::string file = ::testing::TempDir() + "/capacity_state";
    EXPECT_TRUE(SaveTuneState(file, state).ok());
    CapacityOptions options;
    options.model = "m";
    options.times_file = file;
    options.config_file = config;
    return ReadMeasuredNode(options);
  }
  static TuneState State() {
    TuneState state;
    state.models.push_back({kModel, {{Engine(), Node().times}}});
    return state;
  }
};

TEST_F(MeasuredNodeFile, HasTimesAndConfiguration) {
  TuneState state = State();
  TuneState::Measured measured;
  measured.configuration = {{1, 8, true, {}, 100}};
  measured.measurement.memory_mib = 44;
  state.measured.push_back(measured);
  const auto node = Read(state);
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ(node->candidate.max_batch_size, 8);
  EXPECT_DOUBLE_EQ(node->times.BatchUs(1), 10'000);
  EXPECT_DOUBLE_EQ(node->memory_mib, 44);  // as of another one with as many instances
}

TEST_F(MeasuredNodeFile, AnotherConfiguration) {
  const std::string file = ::testing::TempDir() + "/config.pbtxt";
  std::ofstream(file) << "backend: 'identity' max_batch_size: 2\n"
                         "input { name: 'i' data_type: TYPE_FP32 dims: 1 }\n"
                         "output { name: 'o' data_type: TYPE_FP32 dims: 1 }\n"
                         "instance_group { count: 3 kind: KIND_CPU }\n";
  const auto node = Read(State(), file);
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ(node->candidate.instances, 3);
  EXPECT_EQ(node->model.max_batch_size, 2);
  EXPECT_THAT(Read(State(), "nowhere/config.pbtxt").status().message(),
              HasSubstr("--config=nowhere/config.pbtxt: "));
}

TEST_F(MeasuredNodeFile, WhatIsWrong) {
  CapacityOptions options;
  options.model = "m";
  options.times_file = "nowhere";
  EXPECT_THAT(ReadMeasuredNode(options).status().message(), HasSubstr("--times=nowhere: "));
  TuneState state = State();
  state.models[0].times[Engine()].by_batch_us[1] = -1;
  EXPECT_THAT(Read(state).status().message(), HasSubstr("no measured times"));
  state.models[0].times = {{Engine{4}, Node().times}};
  EXPECT_THAT(Read(state).status().message(),
              HasSubstr("no times for the backend and the threads"));
  state.models[0].times.clear();
  EXPECT_THAT(Read(state).status().message(), HasSubstr("no measured times"));
  state = State();
  state.models[0].config_json = std::string(kModel).replace(9, 1, "x");
  EXPECT_THAT(Read(state).status().message(), HasSubstr("of the model 'x', not of 'm'"));
  state.ensemble.emplace();
  EXPECT_THAT(Read(state).status().message(), HasSubstr("it is of an ensemble"));
}

}  // namespace
}  // namespace nereid
