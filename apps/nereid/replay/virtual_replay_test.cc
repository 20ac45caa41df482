#include "replay/virtual_replay.h"

#include <gmock/gmock.h>

#include "simulation/simulated_config.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace nereid
