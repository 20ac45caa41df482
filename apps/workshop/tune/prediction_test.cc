// SPDX-License-Identifier: Apache-2.0
#include "tune/prediction.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "simulation/simulated_config.h"
#include "tune/candidate.h"
#include "tune/measured_machine.h"

namespace nereid {
namespace {

CompiledModel WithInstances(int count, int max_batch = 0, bool batching = false) {
  const auto model = ModelFromJson(
      "{\"name\":\"m\",\"backend\":\"identity\",\"max_batch_size\":8,"
      "\"input\":[{\"name\":\"i\",\"data_type\":\"TYPE_FP32\",\"dims\":[1]}],"
      "\"output\":[{\"name\":\"o\",\"data_type\":\"TYPE_FP32\",\"dims\":[1]}]}");
  EXPECT_TRUE(model.ok()) << model.status();
  return With(*model, {count, max_batch, batching, {}, 0});
}

// Every execution takes 10 ms.
ServiceTimes TenMs() {
  ServiceTimes times;
  times.by_batch_us = {{1, 10'000}, {8, 10'000}};
  times.slowdown = {{1, {{1, 1}}}};
  return times;
}

TEST(ServiceTimes, LiesBetweenMeasuredValues) {
  ServiceTimes times;
  times.by_batch_us = {{1, 10}, {3, 20}, {4, 40}};
  EXPECT_DOUBLE_EQ(times.BatchUs(1), 10);
  EXPECT_DOUBLE_EQ(times.BatchUs(2), 15);
  EXPECT_DOUBLE_EQ(times.BatchUs(5), 60);
  EXPECT_DOUBLE_EQ(times.Slowdown(1, 7), 1);
  times.slowdown = {{1, {{1, 1}, {2, 0.5}}}};
  EXPECT_DOUBLE_EQ(times.Slowdown(1, 4), 1);
  times.slowdown = {{1, {{1, 1}, {2, 1.2}}}, {5, {{1, 1}, {2, 2}}}};
  EXPECT_DOUBLE_EQ(times.Slowdown(1, 2), 1.2);
  EXPECT_DOUBLE_EQ(times.Slowdown(3, 2), 1.6);
  EXPECT_DOUBLE_EQ(times.Slowdown(5, 3), 3);
  EXPECT_DOUBLE_EQ(times.MemoryMib(2), 0);
}

TEST(ServiceTimes, ProcessorsLimitTheThroughput) {
  ServiceTimes times;
  times.by_batch_us = {{1, 20}, {4, 40}};
  EXPECT_GT(times.MostThroughput(1, 1), 1e12);
  times.cpu_us = 50;  // 30 besides the execution
  times.processors = 2;
  EXPECT_DOUBLE_EQ(times.MostThroughput(1, 1), 2e6 / 50);
  EXPECT_DOUBLE_EQ(times.MostThroughput(4, 1), 2e6 / 40);
  // An execution that waits takes little of them.
  times.cpu_us = 10;
  EXPECT_DOUBLE_EQ(times.MostThroughput(4, 1), 2e6 / 5);
  TuneLoad load;
  load.kind = TuneLoad::Kind::kConcurrency;
  load.concurrency = 100;
  const auto predicted = Predict(WithInstances(50), times, load, 0);
  ASSERT_TRUE(predicted.ok()) << predicted.status();
  EXPECT_NEAR(predicted->throughput, 2e6 / 10, 6000);
  EXPECT_NEAR(predicted->p50_us, 100 / 0.2, 30);
}

TEST(ServiceTimes, ARequestTakesLessWhileManyAreInFlight) {
  ServiceTimes times;
  times.by_batch_us = {{1, 20}, {8, 40}};
  times.cpu_us = 80;
  times.processors = 2;
  EXPECT_DOUBLE_EQ(times.RequestCpuUs(), 60);
  times.LearnBusy(25, 4, 8);  // a fourth of 40 us is the execution's
  EXPECT_DOUBLE_EQ(times.RequestCpuUs(), 15);
  EXPECT_DOUBLE_EQ(times.MostThroughput(8, 1), 2e6 / 20);
  times.LearnBusy(1, 4, 8);
  EXPECT_GT(times.RequestCpuUs(), 0);
  EXPECT_LT(times.RequestCpuUs(), 1);
  times.LearnBusy(100, 1, 1);  // never more than alone
  EXPECT_DOUBLE_EQ(times.RequestCpuUs(), 60);
}

TEST(ServiceTimes, OverheadVaries) {
  ServiceTimes times;
  times.overhead_us = 100;
  EXPECT_DOUBLE_EQ(times.OverheadUs(3), 100);
  times.overhead_varies_us = {{0, -20}, {500, 0}, {900, 0}, {999, 300}};
  std::vector<double> drawn;
  for (uint64_t i = 0; i < 10'000; ++i) drawn.push_back(times.OverheadUs(i));
  EXPECT_DOUBLE_EQ(times.OverheadUs(3), drawn[3]);
  std::sort(drawn.begin(), drawn.end());
  EXPECT_NEAR(drawn[5'000], 100, 1);
  EXPECT_NEAR(drawn[2'500], 90, 1);
  EXPECT_NEAR(drawn[9'500], 100 + 300 / 2, 15);
  times.overhead_varies_us = {{0, -500}, {999, -500}};
  EXPECT_DOUBLE_EQ(times.OverheadUs(3), 0);
}

TEST(Predict, OverheadIsPartOfTheLatency) {
  ServiceTimes times = TenMs();
  times.overhead_us = 1000;
  times.overhead_varies_us = {{0, 0}, {900, 0}, {901, 5000}, {999, 5000}};
  TuneLoad load;
  load.kind = TuneLoad::Kind::kConcurrency;
  const auto predicted = Predict(WithInstances(1), times, load, 0);
  ASSERT_TRUE(predicted.ok()) << predicted.status();
  EXPECT_NEAR(predicted->p50_us, 11'000, 1);
  EXPECT_NEAR(predicted->p99_us, 16'000, 1);
  EXPECT_NEAR(predicted->throughput, 1e6 / 11'000, 1);
}

TEST(ServiceTimes, AnExecutionMayKeepSeveralProcessorsBusy) {
  ServiceTimes times;
  times.by_batch_us = {{1, 1000}, {4, 4000}};
  times.cpu_us = 2100;
  times.processors = 4;
  times.overhead_us = 80;
  times.LearnProcessors(8100);
  EXPECT_DOUBLE_EQ(times.execution_processors, 2);
  EXPECT_DOUBLE_EQ(times.RequestCpuUs(), 100);
  EXPECT_DOUBLE_EQ(times.ExecutionCpuUs(4), 8000);
  times.LearnProcessors(1e6);
  EXPECT_DOUBLE_EQ(times.execution_processors, 2.1);  // of the whole request
  times.processors = 1;
  times.LearnProcessors(1e6);
  EXPECT_DOUBLE_EQ(times.execution_processors, 1);
  times.processors = 4;
  // The rest of a request is not told apart from short executions.
  times.execution_processors = 0;
  times.overhead_us = 1000;
  times.LearnProcessors(8100);
  EXPECT_DOUBLE_EQ(times.execution_processors, 0);
  times.overhead_us = 1;
  times.by_batch_us[4] = 1900;
  times.LearnProcessors(8100);
  EXPECT_DOUBLE_EQ(times.execution_processors, 0);
}

TEST(MeasuredMachine, RequestsWaitForTheProcessors) {
  ServiceTimes times = TenMs();
  times.cpu_us = 12'000;  // 2 ms besides
  times.processors = 2;
  MeasuredMachine machine(times);
  constexpr uint64_t kMs = 1'000'000;
  EXPECT_EQ(machine.QueuesAt(kMs), kMs);  // 1 ms of both processors
  EXPECT_EQ(machine.QueuesAt(kMs), 2 * kMs);
  SimulatedBatch batch;
  batch.units = 1;
  batch.pulled_ns = kMs;
  EXPECT_EQ(machine.BusyWith(batch), std::chrono::milliseconds(10));
  EXPECT_EQ(machine.QueuesAt(4 * kMs), 8 * kMs);
  EXPECT_EQ(machine.QueuesAt(20 * kMs), 20 * kMs);
}

TEST(MeasuredMachine, IsSlowerWhenSeveralInstancesWork) {
  ServiceTimes times = TenMs();
  times.slowdown = {{1, {{1, 1}, {2, 1.5}}}};
  MeasuredMachine machine(times);
  SimulatedBatch batch;
  batch.units = 1;
  batch.pulled_ns = 1;
  EXPECT_EQ(machine.BusyWith(batch), std::chrono::milliseconds(10));
  batch.instance = 1;
  batch.pulled_ns = 2;
  EXPECT_EQ(machine.BusyWith(batch), std::chrono::milliseconds(15));
  batch.pulled_ns = 20'000'000;
  EXPECT_EQ(machine.BusyWith(batch), std::chrono::milliseconds(10));
}

TEST(MeasuredMachine, RestsBetweenExecutions) {
  ServiceTimes times = TenMs();
  times.overhead_us = 1'000;
  times.LearnRest(10'500, 10'000);
  EXPECT_DOUBLE_EQ(times.rest_us, 500);
  times.LearnRest(15'000, 10'000);  // more than a request takes besides: it was something else
  EXPECT_DOUBLE_EQ(times.rest_us, 1'000);
  EXPECT_EQ(MeasuredMachine(times).RestAfter({}), std::chrono::milliseconds(1));
  TuneLoad load;
  load.kind = TuneLoad::Kind::kConcurrency;
  load.concurrency = 4;
  EXPECT_NEAR(Predict(WithInstances(1), times, load, 0)->throughput, 1e6 / 11'000, 1);
  // Short executions wait for processors in between.
  ServiceTimes quick = TenMs();
  quick.overhead_us = 3'000;
  quick.LearnRest(12'000, 10'000);
  EXPECT_EQ(quick.rest_us, 0);
}

TEST(Predict, AClosedLoop) {
  TuneLoad load;
  load.kind = TuneLoad::Kind::kConcurrency;
  load.concurrency = 4;
  const auto one = Predict(WithInstances(1), TenMs(), load, 0);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_NEAR(one->throughput, 100, 1);
  EXPECT_NEAR(one->p50_us, 40'000, 1);
  const auto four = Predict(WithInstances(4), TenMs(), load, 0);
  EXPECT_NEAR(four->throughput, 400, 4);
  EXPECT_NEAR(four->p99_us, 10'000, 1);
  const auto batched = Predict(WithInstances(1, 8, true), TenMs(), load, 0);
  EXPECT_NEAR(batched->mean_batch, 4, 0.2);
}

TEST(Predict, AnOpenLoopAndARecording) {
  TuneLoad load;
  load.kind = TuneLoad::Kind::kRate;
  load.rate = 50;
  const auto rate = Predict(WithInstances(2), TenMs(), load, 0);
  ASSERT_TRUE(rate.ok()) << rate.status();
  EXPECT_NEAR(rate->throughput, 50, 5);
  EXPECT_GE(rate->p99_us, 10'000);
  load.kind = TuneLoad::Kind::kRecording;
  load.recording.resize(2);
  load.recording[0].arrival_ns = load.recording[1].arrival_ns = 1;
  const auto recorded = Predict(WithInstances(1), TenMs(), load, 0);
  EXPECT_NEAR(recorded->p99_us, 20'000, 1);
  EXPECT_NEAR(recorded->throughput, 100, 0.01);
}

TEST(LongestWayUs, LeavesOutWhatRunsBeside) {
  // The last step is listed first; the other two run beside each other, one of them twice.
  const std::vector<PipelineStep> steps = {{2, {1, 2, 3}}, {0, {}}, {1, {}}, {0, {1}}};
  EXPECT_DOUBLE_EQ(LongestWayUs(steps, {10, 15, 4}), 24);
  EXPECT_DOUBLE_EQ(LongestWayUs(steps, {10, 30, 4}), 34);
}

// Two models of 10 ms each, one after the other.
PredictedEnsemble Chain(int first, int second) {
  PredictedEnsemble ensemble;
  ensemble.pipeline.models = {WithInstances(first), WithInstances(second)};
  ensemble.pipeline.steps = {{0, {}}, {1, {0}}};
  ensemble.whole.by_batch_us = {{1, 20'000}};
  ensemble.whole.overhead_us = 1000;
  ensemble.models = {TenMs(), TenMs()};
  return ensemble;
}

TEST(Predict, AnEnsemble) {
  TuneLoad load;
  load.kind = TuneLoad::Kind::kConcurrency;
  load.concurrency = 1;
  const auto alone = Predict(Chain(1, 1), load, 0);
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_NEAR(alone->p50_us, 21'000, 1);
  load.concurrency = 8;
  EXPECT_NEAR(Predict(Chain(1, 4), load, 0)->throughput, 100, 2);
  EXPECT_NEAR(Predict(Chain(4, 1), load, 0)->throughput, 100, 2);
  EXPECT_NEAR(Predict(Chain(2, 2), load, 0)->throughput, 200, 4);
  load.kind = TuneLoad::Kind::kRate;
  load.rate = 50;
  EXPECT_NEAR(Predict(Chain(1, 1), load, 0)->throughput, 50, 5);
}

TEST(Predict, ModelsOfAnEnsembleShareTheProcessors) {
  TuneLoad load;
  load.kind = TuneLoad::Kind::kConcurrency;
  load.concurrency = 8;
  PredictedEnsemble ensemble = Chain(8, 8);
  for (ServiceTimes& times : ensemble.models) times.slowdown = {{1, {{1, 1}, {2, 1}, {4, 2}}}};
  // Eight executions at a time, four times as slow.
  EXPECT_NEAR(Predict(ensemble, load, 0)->p50_us, 81'000, 2000);
  ensemble.whole.cpu_us = 25'000;
  ensemble.whole.processors = 1;
  for (ServiceTimes& times : ensemble.models) {
    times.slowdown = {{1, {{1, 1}}}};
    times.execution_processors = 1;
  }
  EXPECT_NEAR(Predict(ensemble, load, 0)->throughput, 40, 1);
}

// A batch of n takes 5 ms + n * 5 ms.
TEST(Predict, ASweepKeepsTheLimit) {
  ServiceTimes times = TenMs();
  times.by_batch_us[8] = 45'000;
  TuneLoad load;
  load.concurrency = 64;
  const CompiledModel model = WithInstances(1, 8, true);
  const auto free = Predict(model, times, load, 0);
  ASSERT_TRUE(free.ok()) << free.status();
  EXPECT_EQ(free->concurrency, 8);
  EXPECT_NEAR(free->throughput, 8 / 0.045, 1);
  const auto limited = Predict(model, times, load, 20'000);
  EXPECT_EQ(limited->concurrency, 2);
  EXPECT_NEAR(limited->throughput, 2 / 0.015, 1);
}

}  // namespace
}  // namespace nereid
