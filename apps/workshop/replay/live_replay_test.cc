// SPDX-License-Identifier: Apache-2.0
#include "replay/live_replay.h"

#include <gmock/gmock.h>

#include "bench/request_body.h"
#include "infer/infer_request.h"
#include "replay/live_replay_text.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

RecordedModel TwoRequests() {
  RecordedModel model;
  model.name = "m";
  RecordedRequest later;
  later.start_ns = 5'000'000;
  later.size = 3;
  later.priority = 2;
  later.timeout_us = 7;
  RecordedRequest earlier;
  earlier.start_ns = 1'000'000;
  earlier.sequence_text = "camera";
  earlier.flags = kRequestFlagSequenceEnd;
  model.requests = {later, earlier, RecordedRequest()};
  return model;
}

TEST(PlanOf, IsInTheOrderOfArrivals) {
  const auto plan = PlanOf(TwoRequests(), 4);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->size(), 2u);  // one has no time
  const bench::PlannedRequest& first = (*plan)[0];
  EXPECT_EQ(first.due.count(), 0);
  EXPECT_EQ(first.batch_size, 1);
  EXPECT_EQ(first.parameters.sequence_text, "camera");
  EXPECT_FALSE(first.parameters.sequence_start);
  EXPECT_TRUE(first.parameters.sequence_end);
  const bench::PlannedRequest& second = (*plan)[1];
  EXPECT_EQ(second.due.count(), 1'000'000);
  EXPECT_EQ(second.batch_size, 3);
  EXPECT_EQ(second.parameters.priority, 2u);
  EXPECT_EQ(second.parameters.timeout_us, 7u);
  EXPECT_FALSE(second.parameters.in_sequence());
}

TEST(PlanOf, GivesEachRequestItsInputs) {
  RecordedModel model = TwoRequests();
  const auto inputs = [](uint64_t start_ns, std::string bytes) {
    return RecordedInputs{start_ns, {{"in", DataType::kInt8, {1}, true, std::move(bytes)}}};
  };
  model.requests.push_back(model.requests[0]);  // in the same nanosecond
  model.inputs = {inputs(5'000'000, "a"), inputs(5'000'000, "b"), inputs(7, "of no request")};
  const auto plan = PlanOf(model, 1);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->size(), 3u);
  EXPECT_EQ((*plan)[0].inputs, nullptr);
  ASSERT_NE((*plan)[1].inputs, nullptr);
  ASSERT_NE((*plan)[2].inputs, nullptr);
  EXPECT_EQ((*plan)[1].inputs->at(0).name, "in");
  EXPECT_EQ((*plan)[1].inputs->at(0).type, DataType::kInt8);
  EXPECT_EQ((*plan)[1].inputs->at(0).bytes + (*plan)[2].inputs->at(0).bytes, "ab");
}

TEST(PlanOf, NeedsARequest) {
  RecordedModel model;
  model.name = "m";
  EXPECT_EQ(PlanOf(model, 1).status().message(), "no request of model 'm' was recorded");
}

TEST(LiveReplayText, ComparesTheTimes) {
  LiveReplay replay;
  replay.requests = 2;
  replay.speed = 2;
  replay.recorded.Add(5'000'000);
  replay.now.latency.Add(8'000'000);
  replay.now.errors.Add("no");
  bench::BenchOptions options;
  options.target = {ProbeProtocol::kGrpc, false, "h", 1};
  const std::string text = LiveReplayText(TwoRequests(), options, replay);
  EXPECT_THAT(text, HasSubstr("2 requests recorded, sent to grpc://h:1, 2 times as fast\n"));
  EXPECT_THAT(text, HasSubstr("  errors        1\n"));
  EXPECT_THAT(text, HasSubstr("  recorded          5.000 ms"));
  EXPECT_THAT(text, HasSubstr("  now               8.000 ms"));
  EXPECT_THAT(text, HasSubstr("1 times: no"));
  EXPECT_THAT(LiveReplayJson(TwoRequests(), options, replay), HasSubstr(R"("speed":2.0)"));
}

}  // namespace
}  // namespace nereid
