// SPDX-License-Identifier: Apache-2.0
#include "simulation/fleet.h"

#include <gmock/gmock.h>

#include <random>

#include "infer/testing/fake_model.h"
#include "simulation/simulate.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;

// A batch of n units takes `base` + n * `each`.
class Machine : public MachineModel {
 public:
  Machine(Duration base, Duration each) : base_(base), each_(each) {}
  Duration BusyWith(const SimulatedBatch& batch) override { return base_ + batch.units * each_; }

 private:
  const Duration base_;
  const Duration each_;
};

ModelBuilder Model(int32_t max_batch = 1, int instances = 1) {
  ModelBuilder builder("m");
  builder.MaxBatch(max_batch).Input("in", DataType::kInt8, {-1}).Instances(instances);
  return builder;
}

FleetOptions Nodes(uint32_t nodes, Duration execution = std::chrono::milliseconds(10)) {
  FleetOptions options;
  options.nodes = nodes;
  options.make_machine = [execution] { return std::make_unique<Machine>(execution, Duration(0)); };
  return options;
}

std::vector<SimulatedRequest> ArrivingAt(const std::vector<double>& millis) {
  std::vector<SimulatedRequest> load;
  for (const double at : millis) {
    load.emplace_back().arrival_ns = static_cast<uint64_t>(at * kMs);
  }
  return load;
}

// `rate` requests per second, equally far from each other.
std::vector<SimulatedRequest> AtRate(double rate, double seconds, double from_second = 0) {
  std::vector<SimulatedRequest> load;
  for (double at = 0; at < seconds; at += 1 / rate) {
    load.emplace_back().arrival_ns = 1 + static_cast<uint64_t>((from_second + at) * kSecond);
  }
  return load;
}

FleetResult RunOf(const CompiledModel& config, const std::vector<SimulatedRequest>& load,
                  const FleetOptions& options) {
  absl::StatusOr<FleetResult> result = SimulateFleet(config, load, options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : FleetResult();
}

std::vector<uint32_t> NodesOf(const FleetResult& result) {
  std::vector<uint32_t> nodes;
  for (const FleetOutcome& request : result.requests) nodes.push_back(request.node);
  return nodes;
}

// "15 2+3-1": the second, ready nodes, those that start, those that drain.
std::vector<std::string> Counts(const FleetResult& result) {
  std::vector<std::string> lines;
  for (const NodeCount& count : result.counts) {
    lines.push_back(std::to_string(count.at_ns / kSecond) + " " + std::to_string(count.ready) +
                    "+" + std::to_string(count.starting) + "-" + std::to_string(count.draining));
  }
  return lines;
}

std::string Refusal(const CompiledModel& config, const std::vector<SimulatedRequest>& load,
                    const FleetOptions& options) {
  return std::string(SimulateFleet(config, load, options).status().message());
}

// 2,000 requests in bursts, of several priorities, sizes, shapes and time-outs.
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
    request.timeout_us = random() % 4 == 0 ? 3'000 : 0;
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

FleetOptions StormNodes(uint32_t nodes) {
  FleetOptions options = Nodes(nodes);
  options.make_machine = [] {
    return std::make_unique<Machine>(std::chrono::microseconds(700),
                                     std::chrono::microseconds(150));
  };
  return options;
}

TEST(SimulateFleet, AFleetOfOneIsTheNodeAlone) {
  const std::vector<SimulatedRequest> storm = Storm();
  const std::unique_ptr<MachineModel> machine = StormNodes(1).make_machine();
  const auto alone = Simulate(StormModel(), storm, machine.get());
  ASSERT_TRUE(alone.ok()) << alone.status();
  const FleetResult fleet = RunOf(StormModel(), storm, StormNodes(1));
  EXPECT_EQ(fleet.executions, alone->batches.size());
  size_t timed_out = 0;
  for (size_t i = 0; i < storm.size(); ++i) {
    ASSERT_EQ(fleet.requests[i].ended_ns, alone->requests[i].ended_ns) << i;
    ASSERT_EQ(fleet.requests[i].outcome, alone->requests[i].outcome) << i;
    timed_out += fleet.requests[i].outcome == FlightOutcome::kTimedOut ? 1 : 0;
  }
  EXPECT_GT(timed_out, 0u);
  EXPECT_EQ(Summarise(storm, fleet, 0).unserved, timed_out);
}

TEST(SimulateFleet, TheSameStormGivesTheSameResult) {
  const auto run = [] {
    FleetOptions options = StormNodes(1);
    options.start = std::chrono::milliseconds(50);
    options.autoscaler.emplace();
    options.autoscaler->target = 4;
    options.autoscaler->most = 4;
    options.autoscaler->interval = std::chrono::milliseconds(20);
    options.autoscaler->stabilization = std::chrono::milliseconds(60);
    return RunOf(StormModel(), Storm(), options);
  };
  const FleetResult first = run();
  EXPECT_GT(first.counts.size(), 4u);
  const FleetResult second = run();
  EXPECT_EQ(NodesOf(first), NodesOf(second));
  EXPECT_EQ(Counts(first), Counts(second));
  EXPECT_EQ(first.ended_ns, second.ended_ns);
}

TEST(SimulateFleet, RoundRobin) {
  const FleetResult result = RunOf(Model().Build(), ArrivingAt({1, 2, 3, 4, 30}), Nodes(3));
  EXPECT_THAT(NodesOf(result), ElementsAre(0, 1, 2, 0, 1));
  EXPECT_EQ(result.requests[3].ended_ns, 21 * kMs);
}

TEST(SimulateFleet, LeastInFlight) {
  FleetOptions options = Nodes(2);
  options.balancer = Balancer::kLeastInFlight;
  // Node 1 is free at 15 ms, node 0 has two requests until 21 ms.
  const FleetResult result = RunOf(Model().Build(), ArrivingAt({1, 5, 6, 16, 17, 18}), options);
  EXPECT_THAT(NodesOf(result), ElementsAre(0, 1, 0, 1, 0, 1));
  const FleetResult in_turn = RunOf(Model().Build(), ArrivingAt({1, 20, 40}), options);
  EXPECT_THAT(NodesOf(in_turn), ElementsAre(0, 1, 0));
}

TEST(SimulateFleet, NodesShareTheLoad) {
  // 150 requests per second, of which a node serves 100.
  const std::vector<SimulatedRequest> load = AtRate(150, 10);
  const FleetSummary one = Summarise(load, RunOf(Model().Build(), load, Nodes(1)), 20 * kMs);
  EXPECT_NEAR(one.throughput, 100, 1);
  EXPECT_NEAR(one.busy, 1, 0.001);
  EXPECT_GT(one.late, load.size() * 9 / 10);
  const FleetResult result = RunOf(Model().Build(), load, Nodes(2));
  const FleetSummary two = Summarise(load, result, 20 * kMs);
  EXPECT_NEAR(two.throughput, 150, 1);
  EXPECT_NEAR(two.busy, 0.75, 0.01);
  EXPECT_EQ(two.p99_ns, 10 * kMs);
  EXPECT_EQ(two.late + two.unserved, 0u);
  EXPECT_NEAR(result.node_seconds, 20, 0.1);
}

// One node serves 100 requests per second, and 200 come; the gauge is far above the target.
FleetOptions Growing() {
  FleetOptions options = Nodes(1);
  options.start = std::chrono::seconds(20);
  options.autoscaler.emplace();
  options.autoscaler->target = 2;
  options.autoscaler->most = 5;
  return options;
}

TEST(SimulateFleet, NodesAreReadyAfterTheirStart) {
  const FleetResult result = RunOf(Model().Build(), AtRate(200, 34), Growing());
  EXPECT_THAT(Counts(result), ElementsAre("0 1+0-0", "15 1+4-0"));
  for (const FleetOutcome& request : result.requests) EXPECT_EQ(request.node, 0u);
  const FleetResult longer = RunOf(Model().Build(), AtRate(200, 40), Growing());
  EXPECT_THAT(Counts(longer), ElementsAre("0 1+0-0", "15 1+4-0", "35 5+0-0"));
  const std::vector<uint32_t> nodes = NodesOf(longer);
  EXPECT_THAT(nodes, ::testing::Contains(4u));
}

TEST(SimulateFleet, ANodeThatIsTakenAwayFinishesWhatItHas) {
  FleetOptions options = Nodes(2, std::chrono::seconds(4));
  options.autoscaler.emplace();
  options.autoscaler->target = 10;
  options.autoscaler->most = 2;
  options.autoscaler->stabilization = Duration(0);
  // At 15 s, node 1 has one request, which ends at 18 s. That at 16 s comes to node 0.
  const FleetResult result =
      RunOf(Model().Build(), ArrivingAt({1000, 14'000, 16'000, 17'000, 40'000}), options);
  EXPECT_THAT(Counts(result), ElementsAre("0 2+0-0", "15 1+0-1", "18 1+0-0"));
  EXPECT_THAT(NodesOf(result), ElementsAre(0, 1, 0, 0, 0));
  for (const FleetOutcome& request : result.requests) {
    EXPECT_EQ(request.outcome, FlightOutcome::kOk);
  }
  EXPECT_EQ(result.requests[1].ended_ns, 18 * kSecond);
  EXPECT_NEAR(result.node_seconds, 44 + 18, 0.01);
  EXPECT_NEAR(result.instance_seconds, 44 + 18, 0.01);
}

TEST(SimulateFleet, NodesThatStartAreTakenAwayFirst) {
  FleetOptions options = Nodes(1);
  options.start = std::chrono::seconds(1000);
  options.autoscaler.emplace();
  options.autoscaler->target = 1;
  options.autoscaler->most = 5;
  options.autoscaler->stabilization = Duration(0);
  std::vector<SimulatedRequest> load = AtRate(300, 1);  // is worked off after 3 seconds
  load.push_back(AtRate(1, 1, 100)[0]);
  const FleetResult result = RunOf(Model().Build(), load, options);
  EXPECT_THAT(Counts(result), ElementsAre("0 1+0-0", "15 1+4-0", "30 1+0-0"));
  EXPECT_NEAR(result.node_seconds, 100 + 4 * 15, 0.1);
}

TEST(SimulateFleet, TheQueueAlone) {
  // One request is always executed, and none waits: the gauge of the queue asks for less.
  FleetOptions options = Nodes(2);
  options.autoscaler.emplace();
  options.autoscaler->gauge = AutoscalerOptions::Gauge::kQueued;
  options.autoscaler->target = 0.5;
  options.autoscaler->most = 2;
  options.autoscaler->stabilization = Duration(0);
  EXPECT_THAT(Counts(RunOf(Model().Build(), AtRate(90, 16), options)),
              ElementsAre("0 2+0-0", "15 1+0-0"));
  options.autoscaler->gauge = AutoscalerOptions::Gauge::kInFlight;
  EXPECT_THAT(Counts(RunOf(Model().Build(), AtRate(90, 16), options)), ElementsAre("0 2+0-0"));
}

TEST(SimulateFleet, TooManyRequestsInFlightAreRefused) {
  FleetOptions options = Nodes(1);
  options.most_in_flight = 2;
  const std::vector<SimulatedRequest> load = ArrivingAt({1, 2, 3, 12});
  const FleetResult result = RunOf(Model().Build(), load, options);
  EXPECT_EQ(result.requests[2].outcome, FlightOutcome::kRefused);
  EXPECT_EQ(result.requests[3].outcome, FlightOutcome::kOk);
  EXPECT_EQ(Summarise(load, result, 0).unserved, 1u);
}

TEST(SimulateFleet, NoRequests) {
  const FleetResult result = RunOf(Model().Build(), {}, Nodes(2));
  EXPECT_THAT(Counts(result), ElementsAre("0 2+0-0"));
  EXPECT_EQ(Summarise({}, result, 1).throughput, 0);
}

TEST(SimulateFleet, WhatCannotBeSimulatedIsRefused) {
  const CompiledModel model = Model().Build();
  EXPECT_THAT(Refusal(model, ArrivingAt({2, 1}), Nodes(1)), HasSubstr("order of their arrivals"));
  EXPECT_THAT(Refusal(model, {}, Nodes(0)), HasSubstr("1 to 1000 nodes, not 0"));
  EXPECT_THAT(Refusal(model, {}, Nodes(1001)), HasSubstr("not 1001"));
  EXPECT_THAT(Refusal(model, {}, FleetOptions()), HasSubstr("no machine"));
  FleetOptions few = Nodes(1);
  few.most_requests = 2;
  EXPECT_THAT(Refusal(model, ArrivingAt({1, 2, 3}), few), HasSubstr("with up to 2"));
  CompiledModel sequences = model;
  sequences.sequence.enabled = true;
  EXPECT_THAT(Refusal(sequences, {}, Nodes(1)), HasSubstr("serves sequences"));
  FleetOptions options = Growing();
  options.nodes = 6;
  EXPECT_THAT(Refusal(model, {}, options), HasSubstr("its autoscaler allows 1 to 5"));
  options = Growing();
  options.autoscaler->target = -1;
  EXPECT_THAT(Refusal(model, {}, options), HasSubstr("target"));
}

}  // namespace
}  // namespace nereid
