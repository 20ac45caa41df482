#include "infer/serving_model.h"

#include <gtest/gtest.h>

#include "infer/testing/fake_model.h"

namespace nereid {
namespace {

TEST(ServingModelTest, LabelsAreFoundByOutputAndIndex) {
  const FakeModel model(ModelBuilder().Build(), Clock::Real(), {{"out", {"cat", "dog"}}});
  EXPECT_STREQ(model.Label("out", 0), "cat");
  EXPECT_STREQ(model.Label("out", 1), "dog");
  EXPECT_EQ(model.Label("out", 2), nullptr);
  EXPECT_EQ(model.Label("other", 0), nullptr);
}

TEST(ServingModelTest, EachInstanceHasAStatisticsShardOfItsOwn) {
  FakeModel model(ModelBuilder().Instances(3).Build());
  for (int shard = 0; shard <= 3; ++shard) {
    model.statistics().RecordFailure(shard, FailureReason::kOther, 1);
  }
  EXPECT_EQ(model.statistics().Snapshot().fail.count, 4u);
}

TEST(ServingModelTest, TheFakeModelFollowsItsScript) {
  FakeModel model(ModelBuilder().Build());
  RequestPtr none;
  EXPECT_EQ(model.Enqueue(&none).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(model.AdmissionOpen());
  EXPECT_TRUE(model.CheckReady().ok());
  model.ready = absl::UnavailableError("warming up");
  model.on_enqueue = [](RequestPtr*) { return absl::OkStatus(); };
  model.admission_open = false;
  EXPECT_TRUE(model.Enqueue(&none).ok());
  EXPECT_FALSE(model.AdmissionOpen());
  EXPECT_EQ(model.CheckReady(), absl::UnavailableError("warming up"));
}

}  // namespace
}  // namespace nereid
