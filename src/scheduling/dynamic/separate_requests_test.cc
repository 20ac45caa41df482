// SPDX-License-Identifier: Apache-2.0
// Instances that take several requests at once from a scheduler that does not batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "scheduling/dynamic/dynamic_scheduler.h"
#include "scheduling/testing/scheduler_fixture.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

class TakingInstance final : public BatchExecutor {
 public:
  Duration Execute(Batch batch) override {
    FinishBatch(std::move(batch));
    return Duration(0);
  }
  uint32_t most_separate() const override { return most; }

  uint32_t most = 8;
};

class SeparateRequestsTest : public SchedulerFixture {
 protected:
  void EnqueueMany(int count) {
    for (int i = 0; i < count; ++i) Enqueue();
  }
  // Pulls what has to be due, and executes it. Returns the ids, and a "+" if they are separate.
  std::vector<std::string> PullIds() {
    Batch batch = scheduler_->Pull(&instance_, std::nullopt);
    std::vector<std::string> ids;
    for (const RequestPtr& request : batch) ids.emplace_back(request->id());
    if (batch.origin.separate) ids.emplace_back("+");
    instance_.Execute(std::move(batch));
    return ids;
  }

  TakingInstance instance_;
};

TEST_F(SeparateRequestsTest, AnInstanceGetsWhatWaits) {
  Use(Model());
  EnqueueMany(3);
  EXPECT_THAT(PullIds(), ElementsAre("0", "1", "2", "+"));
  for (const auto& request : requests_) EXPECT_EQ(request->answer_count(), 1u);
}

TEST_F(SeparateRequestsTest, AnInstanceGetsNoMoreThanItTakes) {
  Use(Model(/*max_batch=*/0));
  instance_.most = 2;
  EnqueueMany(3);
  EXPECT_THAT(PullIds(), ElementsAre("0", "1", "+"));
  EXPECT_THAT(PullIds(), ElementsAre("2")) << "one request is a batch as any other";
}

TEST_F(SeparateRequestsTest, TheNumberMayChangeAtAnyTime) {
  Use(Model());
  EnqueueMany(5);
  EXPECT_THAT(PullIds(), ElementsAre("0", "1", "2", "3", "4", "+"));
  EnqueueMany(2);
  instance_.most = 1;
  EXPECT_THAT(PullIds(), ElementsAre("5"));
  EXPECT_THAT(PullIds(), ElementsAre("6"));
}

TEST_F(SeparateRequestsTest, RequestsThatAreCancelledAreNotHandedOut) {
  Use(Model());
  EnqueueMany(3);
  ASSERT_TRUE((*requests_[1])->Cancel().ok());
  EXPECT_THAT(PullIds(), ElementsAre("0", "2", "+"));
}

TEST_F(SeparateRequestsTest, DynamicBatchingFormsItsOwnBatches) {
  Use(Model().Batching());
  EnqueueMany(3);
  EXPECT_THAT(PullIds(), ElementsAre("0", "1", "2"));
}

TEST_F(SeparateRequestsTest, QueuesWithPoliciesKeepTheirRequests) {
  Use(Model(/*max_batch=*/0).Batching());
  EnqueueMany(2);
  EXPECT_THAT(PullIds(), ElementsAre("0"));
  EXPECT_THAT(PullIds(), ElementsAre("1"));
}

TEST_F(SeparateRequestsTest, RateLimitedInstancesGetOneAtATime) {
  Use(Model());
  EnqueueMany(2);
  for (int i = 0; i < 2; ++i) {
    std::optional<Batch> batch = scheduler_->TryPull();
    ASSERT_TRUE(batch.has_value());
    EXPECT_EQ(batch->size(), 1u);
    FinishBatch(*std::move(batch));
  }
}

}  // namespace
}  // namespace nereid
