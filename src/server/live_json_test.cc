// SPDX-License-Identifier: Apache-2.0
#include "server/live_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "lifecycle/model/managed_model.h"
#include "server/live_history.h"
#include "server/recent_work.h"

namespace nereid {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kNow = 100 * kSecond;

// A model that only counts and records.
class CountingModel final : public ManagedModel {
 public:
  explicit CountingModel(size_t events)
      : ManagedModel(Config(), {}, Clock::Real(), {}, Duration(0), events) {}

  absl::Status Enqueue(RequestPtr*) override { return absl::UnavailableError("only a test"); }
  bool AdmissionOpen() const override { return true; }
  absl::Status CheckReady() override { return absl::OkStatus(); }
  void OnCancel(InferRequest*) override {}
  void CloseAdmission() override {}
  Work work(TimePoint) const override { return {2, 7}; }

  // An execution of instance `shard` with one request; both end at `end`.
  void Execute(uint16_t shard, uint64_t start, uint64_t end, uint32_t units) {
    BatchRecord batch;
    batch.number = recorder().NextBatch(shard);
    batch.instance = shard;
    batch.reason = static_cast<uint8_t>(BatchReason::kFull);
    batch.requests = 1;
    batch.units = units;
    batch.exec_start = start;
    batch.exec_end = end;
    recorder().Record(batch);
    FlightRecord flight;
    flight.request_start = flight.queue_start = start - 10;
    flight.pulled = flight.exec_start = start;
    flight.answered = flight.sent = end;
    flight.instance = shard;
    recorder().Record(flight);
  }

 private:
  static std::shared_ptr<const CompiledModel> Config() {
    auto config = std::make_shared<CompiledModel>();
    config->name = "m";
    config->version = 3;
    config->instances.resize(2);
    config->instances[0].name = "m_0";
    config->instances[1].name = "m_1";
    return config;
  }
  void TearDown() override {}
};

// ---- The window.

TEST(RecentWorkTest, WhatEndedWithinTheWindow) {
  CountingModel model(64);
  const uint64_t begin = kNow - RecentWork::kWindowNs;
  model.Execute(1, begin - 5 * kSecond, begin - kSecond, 9);  // too old
  model.Execute(1, begin - kSecond, begin + 2 * kSecond, 4);  // half of it counts as busy
  model.Execute(1, begin + 4 * kSecond, begin + 7 * kSecond, 4);
  model.Execute(2, begin + kSecond, begin + 2 * kSecond, 1);
  const RecentWork work = RecentWorkOf(model, kNow);
  EXPECT_EQ(work.window_ns, RecentWork::kWindowNs);
  EXPECT_EQ(work.executions, 3u);
  EXPECT_EQ(work.batch_sizes, (std::map<uint64_t, uint64_t>{{1, 1}, {4, 2}}));
  EXPECT_EQ(work.reasons[static_cast<size_t>(BatchReason::kFull)], 3u);
  EXPECT_EQ(work.busy, (std::vector<double>{0.5, 0.1}));
  EXPECT_EQ(work.requests, 3u);
  EXPECT_EQ(work.phases[static_cast<size_t>(Phase::kQueue)].p50, 10u);
  EXPECT_EQ(work.phases[static_cast<size_t>(Phase::kComputeInfer)].p99, 3 * kSecond);
  EXPECT_EQ(work.latency.p50, 3 * kSecond + 10);
}

// The ring of one instance holds only the last second.
TEST(RecentWorkTest, TheWindowIsNoLongerThanTheMemory) {
  CountingModel model(4);
  for (uint64_t i = 1; i <= 8; ++i) {
    const uint64_t end = kNow - kSecond + i * kSecond / 8;
    model.Execute(1, end - kSecond / 16, end, 1);
  }
  const RecentWork work = RecentWorkOf(model, kNow);
  EXPECT_EQ(work.window_ns, kSecond * 3 / 8);
  EXPECT_EQ(work.executions, 3u);
  EXPECT_EQ(work.busy, (std::vector<double>{0.5, 0}));
}

TEST(RecentWorkTest, WithoutRecords) {
  const RecentWork work = RecentWorkOf(CountingModel(4), kNow);
  EXPECT_EQ(work.window_ns, RecentWork::kWindowNs);
  EXPECT_EQ(work.executions + work.requests + work.latency.p99, 0u);
  EXPECT_EQ(work.busy, (std::vector<double>{0, 0}));
}

// ---- The answers.

LiveServer ThisServer() { return {"nereid", "9", 5, 1, 2, 3, 4}; }

std::string Json(std::vector<LiveModel> models) {
  return LiveJsonOf(ThisServer(), std::move(models), FromNanos(kNow), {kNow, 8});
}

TEST(LiveJsonTest, TheGpusInUse) {
  LiveServer server = ThisServer();
  server.gpus.resize(2);
  server.gpus[0].name = "A GPU";
  server.gpus[0].uuid = "GPU-a";
  server.gpus[0].memory_bytes = 9;
  server.gpus[0].pool_bytes = 8;
  server.gpus[0].pool_used_bytes = 7;
  server.gpus[0].instances = 6;
  server.gpus[0].reading = GpuReading();
  server.gpus[0].reading->utilization = 0.5;
  server.gpus[0].reading->power_watts = 61.5;
  server.gpus[1].id = 1;
  server.gpus[1].failure = absl::UnavailableError("gone");
  EXPECT_THAT(
      LiveJsonOf(server, {}, FromNanos(kNow), {kNow, 8}),
      testing::HasSubstr(
          R"("states":{},"gpus":[{"id":0,"name":"A GPU","uuid":"GPU-a","memory_bytes":9,)"
          R"("pool_bytes":8,"pool_used_bytes":7,"instances":6,"utilization":0.5,"power_watts":61.5},)"
          R"({"id":1,"name":"","uuid":"","memory_bytes":0,"pool_bytes":0,"pool_used_bytes":0,)"
          R"("instances":0,"failure":"gone"}]},"not_shown":0)"));
}

TEST(LiveJsonTest, AModel) {
  const auto model = std::make_shared<CountingModel>(4);
  model->Execute(1, kNow - 3 * kSecond, kNow - kSecond / 2, 4);
  model->statistics().RecordBatch(1, 4, 1, 2, 3, 4, 77);
  model->statistics().RecordFailure(1, FailureReason::kBackend, 5);
  model->statistics().AddPending(2);
  EXPECT_EQ(
      Json({{{"m", 3, "READY", ""}, model}, {{"gone", -1, "", "why"}, nullptr}}),
      R"({"now_ns":100000000000,"now_unix_ms":8,"server":{"name":"nereid","version":"9","uptime_ns":5,)"
      R"("in_flight":1,"in_flight_limit":2,"in_flight_bytes":3,"in_flight_bytes_limit":4,"queued":2,)"
      R"("succeeded":0,"failed":1,"states":{"NOT_LOADED":1,"READY":1}},"not_shown":0,"models":[)"
      R"({"name":"gone","state":"","reason":"why"},)"
      R"({"name":"m","version":"3","state":"READY","reason":"","in_flight":0,"instances":2,)"
      R"("busy_ns":7,"queued":2,"succeeded":0,"failed":{"rejected":0,"cancelled":0,"backend":1,)"
      R"("other":0},"cache_hits":0,"inferences":0,"executions":1,"batch_sizes":{"4":1},)"
      R"("recent":{"window_ns":10000000000,"executions":1,"batch_sizes":{"4":1},)"
      R"("reasons":{"full":1},"instances":[{"name":"m_0","busy":0.25},{"name":"m_1","busy":0.0}],)"
      R"("requests":1,"phases_ns":{"queue":{"p50":10,"p90":10,"p99":10},)"
      R"("compute_infer":{"p50":2500000000,"p90":2500000000,"p99":2500000000}},)"
      R"("latency_ns":{"p50":2500000010,"p90":2500000010,"p99":2500000010}}}]})");
}

TEST(LiveJsonTest, ARecorderThatIsOffSaysNothing) {
  const auto model = std::make_shared<CountingModel>(0);
  EXPECT_EQ(Json({{{"m", 3, "READY", ""}, model}}).find("recent"), std::string::npos);
}

TEST(LiveJsonTest, OfManyModelsThoseThatWorkAreShown) {
  const auto busy = std::make_shared<CountingModel>(0);
  busy->statistics().RecordBatch(1, 1, 1, 2, 3, 4, 77);
  std::vector<LiveModel> models;
  for (size_t i = 0; i < kMostLiveModels + 4; ++i) {
    models.push_back({{"idle" + std::to_string(i), -1, "", ""}, nullptr});
  }
  models.push_back({{"zzz", 1, "READY", ""}, busy});
  const std::string json = Json(std::move(models));
  EXPECT_NE(json.find(R"("not_shown":5,)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("name":"zzz")"), std::string::npos) << json;
}

// ---- The history.

LiveSample SampleOf(std::vector<LiveModel> models) {
  return LiveSampleOf(ThisServer(), std::move(models), FromNanos(kNow), {kNow, 8});
}

TEST(LiveHistoryTest, ASample) {
  const auto model = std::make_shared<CountingModel>(4);
  model->Execute(1, kNow - 3 * kSecond, kNow - kSecond / 2, 4);
  model->statistics().RecordBatch(1, 4, 1, 2, 3, 4, 77);
  model->statistics().RecordFailure(1, FailureReason::kBackend, 5);
  model->statistics().AddPending(2);
  LiveHistory history;
  EXPECT_EQ(history.Json(3), R"({"started_ns":3,"samples":[]})");
  history.Add(SampleOf({{{"m", 3, "READY", ""}, model}, {{"gone", -1, "", "why"}, nullptr}}));
  EXPECT_EQ(history.Json(3),
            R"({"started_ns":3,"samples":[{"now_ns":100000000000,"now_unix_ms":8,)"
            R"("server":{"succeeded":0,"failed":1,"queued":2,"in_flight":1},"models":[)"
            R"({"name":"m","version":"3","succeeded":0,"failed":1,"queued":2,"in_flight":0,)"
            R"("instances":2,"busy_ns":7,"batches":1,"units":4,)"
            R"("latency_ns":{"p50":2500000010,"p90":2500000010,"p99":2500000010}}]}]})");
}

TEST(LiveHistoryTest, WithoutRequestsOrARecorderThereIsNoLatency) {
  for (const size_t events : {0, 4}) {
    const auto model = std::make_shared<CountingModel>(events);
    const LiveSample sample = SampleOf({{{"m", 3, "READY", ""}, model}});
    ASSERT_EQ(sample.models.size(), 1u);
    EXPECT_FALSE(sample.models[0].latency.has_value()) << events;
  }
}

TEST(LiveHistoryTest, OfManyModelsThoseThatWorkAreKeptAndAllAreCounted) {
  const auto busy = std::make_shared<CountingModel>(0);
  busy->statistics().RecordBatch(1, 1, 1, 2, 3, 4, 77);
  std::vector<LiveModel> models;
  for (size_t i = 0; i < LiveHistory::kMostModels + 4; ++i) {
    const auto idle = std::make_shared<CountingModel>(0);
    idle->statistics().RecordFailure(1, FailureReason::kOther, 5);
    models.push_back({{"idle" + std::to_string(i), 1, "READY", ""}, idle});
  }
  models.push_back({{"zzz", 1, "READY", ""}, busy});
  const LiveSample sample = SampleOf(std::move(models));
  ASSERT_EQ(sample.models.size(), LiveHistory::kMostModels);
  EXPECT_EQ(sample.models.back().name, "zzz");
  EXPECT_EQ(sample.server.failed, LiveHistory::kMostModels + 4);
}

TEST(LiveHistoryTest, TheOldestSamplesAreForgotten) {
  LiveHistory history;
  for (uint64_t i = 0; i < LiveHistory::kMostSamples + 2; ++i) {
    LiveSample sample;
    sample.clock = {1000 + i, 5};
    history.Add(std::move(sample));
  }
  const std::string json = history.Json(0);
  EXPECT_EQ(json.find("\"now_ns\":1001,"), std::string::npos);
  EXPECT_EQ(json.find("\"now_ns\":1002,"), json.find("\"now_ns\":"));
  EXPECT_NE(json.find("\"now_ns\":1301,"), std::string::npos);
}

TEST(LogJsonTest, Lines) {
  LogTail::Lines read;
  read.dropped = 2;
  read.lines.push_back({3, 5, "ERROR", "a.cc:1", "\"no\"", "r", "m"});
  read.lines.push_back({4, 6, "INFO", "", "block", "", ""});
  EXPECT_EQ(LogJsonOf(read, {1, 2}),
            R"({"now_ns":1,"now_unix_ms":2,"dropped":2,"lines":[{"number":3,"unix_us":5,)"
            R"("level":"ERROR","place":"a.cc:1","message":"\"no\"","request_id":"r","model":"m"},)"
            R"({"number":4,"unix_us":6,"level":"INFO","message":"block"}]})");
}

}  // namespace
}  // namespace nereid
