// SPDX-License-Identifier: Apache-2.0
#include "top/top_view.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

LiveModelAnswer Model(uint64_t succeeded) {
  LiveModelAnswer model;
  model.name = "m";
  model.version = "1";
  model.state = "READY";
  model.serves = true;
  model.succeeded = succeeded;
  model.instances = 2;
  return model;
}

LiveAnswer Answer(uint64_t now_s, std::vector<LiveModelAnswer> models) {
  LiveAnswer answer;
  answer.now_ns = now_s * kSecond;
  answer.server.uptime_ns = now_s * kSecond;
  answer.models = std::move(models);
  return answer;
}

TEST(TopViewTest, RatesAreDifferences) {
  LiveModelAnswer before = Model(100);
  before.failed = {{"backend", 1}, {"rejected", 2}};
  before.batch_sizes = {{"1", 10}};
  before.busy_ns = kSecond;
  LiveModelAnswer now = Model(120);
  now.failed = {{"backend", 1}, {"rejected", 6}};
  now.batch_sizes = {{"1", 12}, {"8", 2}};
  now.busy_ns = 3 * kSecond;
  now.reasons = {{"full", 3}, {"delay_over", 1}};
  now.phases_ns = {{"queue", {{"p50", 5}, {"p99", 6}}},
                   {"compute_infer", {{"p50", 7}, {"p99", 8}}}};
  const LiveAnswer first = Answer(10, {before});
  const TopView view = MakeTopView(&first, Answer(12, {now}));
  EXPECT_FALSE(view.restarted);
  ASSERT_EQ(view.rows.size(), 1u);
  const TopRow& row = view.rows[0];
  EXPECT_DOUBLE_EQ(*row.requests_per_s, 12);  // 20 and 4 failures in 2 s
  EXPECT_DOUBLE_EQ(*row.failures_per_s, 2);
  EXPECT_DOUBLE_EQ(*row.batch_size, 4.5);  // 2 of 1 and 2 of 8
  EXPECT_DOUBLE_EQ(*row.busy, 0.5);        // 2 s of two instances
  EXPECT_EQ(row.because, "full 75 %");
  EXPECT_EQ(row.queue_p50, 5u);
  EXPECT_EQ(row.compute_p99, 8u);
  EXPECT_DOUBLE_EQ(*view.requests_per_s, 12);
}

TEST(TopViewTest, TheFirstAnswerHasNoRates) {
  const TopView view = MakeTopView(nullptr, Answer(10, {Model(100)}));
  EXPECT_FALSE(view.restarted);
  EXPECT_FALSE(view.rows[0].requests_per_s.has_value());
  EXPECT_FALSE(view.requests_per_s.has_value());
}

TEST(TopViewTest, ARestartedServerHasNoRates) {
  const LiveAnswer first = Answer(10, {Model(100)});
  LiveAnswer now = Answer(25, {Model(200)});
  now.server.uptime_ns = 11 * kSecond;  // longer than that of the first had been
  const TopView view = MakeTopView(&first, now);
  EXPECT_TRUE(view.restarted);
  EXPECT_FALSE(view.rows[0].requests_per_s.has_value());
}

// Its counters begin at zero, those of others go on.
TEST(TopViewTest, AModelThatWasLoadedAnewHasNoRates) {
  LiveModelAnswer other = Model(5);
  other.name = "n";
  const LiveAnswer first = Answer(10, {Model(100), other});
  const TopView view = MakeTopView(&first, Answer(12, {Model(3), other}));
  EXPECT_FALSE(view.restarted);
  EXPECT_FALSE(view.rows[0].requests_per_s.has_value());
  EXPECT_DOUBLE_EQ(*view.rows[1].requests_per_s, 0);
  EXPECT_FALSE(view.rows[1].batch_size.has_value());
}

// By their names alone they cannot be told apart.
TEST(TopViewTest, ModelsOfOneNameHaveNoRates) {
  const LiveAnswer first = Answer(10, {Model(1), Model(2)});
  const TopView view = MakeTopView(&first, Answer(12, {Model(3), Model(4)}));
  EXPECT_FALSE(view.rows[0].requests_per_s.has_value());
  EXPECT_FALSE(view.rows[1].requests_per_s.has_value());
}

TEST(TopViewTest, TheSameAnswerTwice) {
  const LiveAnswer first = Answer(10, {Model(100)});
  EXPECT_FALSE(MakeTopView(&first, first).rows[0].requests_per_s.has_value());
}

TEST(TopViewTest, AnEnsembleShowsItsSteps) {
  LiveModelAnswer model = Model(1);
  model.phases_ns = {{"steps", {{"p50", 3}, {"p99", 4}}}};
  EXPECT_EQ(MakeTopView(nullptr, Answer(1, {model})).rows[0].compute_p50, 3u);
}

std::string Order(TopSort by, std::vector<TopRow> rows) {
  SortRows(by, &rows);
  std::string order;
  for (const TopRow& row : rows) order += row.model + row.version + " ";
  return order;
}

TEST(TopViewTest, Sorting) {
  std::vector<TopRow> rows(3);
  rows[0].model = "a";
  rows[0].version = "10";
  rows[0].requests_per_s = 1;
  rows[1].model = "a";
  rows[1].version = "9";
  rows[1].requests_per_s = 2;
  rows[1].queue_p99 = 1;
  rows[2].model = "b";
  rows[2].serves = true;
  EXPECT_EQ(Order(TopSort::kModel, rows), "a9 a10 b ");
  EXPECT_EQ(Order(TopSort::kRequests, rows), "a9 a10 b ");
  EXPECT_EQ(Order(TopSort::kQueueTime, rows), "a9 a10 b ");
  EXPECT_EQ(Order(TopSort::kQueued, rows), "b a9 a10 ");
  rows[0].failures_per_s = 1;
  rows[0].compute_p99 = 1;
  EXPECT_EQ(Order(TopSort::kFailures, rows), "a10 a9 b ");
  EXPECT_EQ(Order(TopSort::kComputeTime, rows), "a10 a9 b ");
  rows[2].busy = 0;
  EXPECT_EQ(Order(TopSort::kBusy, rows), "b a9 a10 ");
}

// ---- The answer as JSON.

TEST(LiveAnswerTest, Reading) {
  const auto answer = ReadLive(R"({"now_ns":9,"now_unix_ms":1,"server":{"name":"nereid",
"version":"1.0","uptime_ns":8,"in_flight":7,"queued":6,"succeeded":5,"failed":4,"gpus":[
{"id":1,"memory_bytes":4,"utilization":0.5,"memory_used_bytes":2},{"id":2,"failure":"x"}]},"not_shown":3,
"models":[{"name":"m","version":"1","state":"READY","reason":"","in_flight":1,"instances":2,
"busy_ns":3,"queued":4,"succeeded":5,"failed":{"rejected":6,"new":7},"batch_sizes":{"8":1},
"recent":{"reasons":{"full":2},"phases_ns":{"queue":{"p50":1,"p90":2,"p99":3}}}},
{"name":"n","state":"UNAVAILABLE","reason":"broken"}]})");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->now_ns, 9u);
  EXPECT_EQ(answer->not_shown, 3u);
  EXPECT_EQ(answer->server.in_flight, 7u);
  ASSERT_EQ(answer->server.gpus.size(), 2u);
  EXPECT_EQ(answer->server.gpus[0].utilization, 0.5);
  EXPECT_EQ(answer->server.gpus[0].memory_used_bytes, 2u);
  EXPECT_FALSE(answer->server.gpus[0].failed);
  EXPECT_TRUE(answer->server.gpus[1].failed);
  EXPECT_LT(answer->server.gpus[1].utilization, 0);
  ASSERT_EQ(answer->models.size(), 2u);
  const LiveModelAnswer& model = answer->models[0];
  EXPECT_TRUE(model.serves);
  EXPECT_EQ(model.failed, (Counts{{"new", 7}, {"rejected", 6}}));
  EXPECT_EQ(model.reasons, (Counts{{"full", 2}}));
  EXPECT_EQ(model.phases_ns.at("queue").at("p99"), 3u);
  EXPECT_FALSE(answer->models[1].serves);
  EXPECT_EQ(answer->models[1].reason, "broken");
  EXPECT_FALSE(ReadLive("{}").ok());
  EXPECT_FALSE(ReadLive("<html>").ok());
}

}  // namespace
}  // namespace nereid
