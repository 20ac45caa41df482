// SPDX-License-Identifier: Apache-2.0
// DynamicScheduler with a latency target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "observe/metrics/model_metrics.h"
#include "scheduling/testing/scheduler_fixture.h"

namespace nereid {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// An instance without a thread: the test pulls for the instance when a batch is due.
class ManualInstance final : public BatchExecutor {
 public:
  Duration Execute(Batch) override { return Duration(0); }
};

class AdaptiveSchedulerTest : public SchedulerFixture {
 protected:
  void UseTarget(Duration target) {
    DynamicSchedulerOptions options;
    options.target = target;
    Use(Model().Batching(), nullptr, Duration(0), options);
  }

  // The instance takes the batch that is due and is busy from now on. Returns its size.
  size_t Begin() {
    Batch batch = scheduler_->Pull(&instance_, took_);
    took_ = Duration(0);  // ignored: adaptive batching measures with the clock
    const size_t size = batch.size();
    FinishBatch(std::move(batch));
    return size;
  }

  Duration delay() const { return scheduler_->adaptive_plan()->delay; }

  ManualInstance instance_;
  std::optional<Duration> took_;
};

TEST_F(AdaptiveSchedulerTest, WithoutATargetThereIsNoPlan) {
  Use(Model().Batching());
  EXPECT_FALSE(scheduler_->adaptive_plan().has_value());
}

TEST_F(AdaptiveSchedulerTest, BeginsAsWithoutADelay) {
  UseTarget(milliseconds(10));
  ASSERT_TRUE(scheduler_->adaptive_plan().has_value());
  EXPECT_EQ(delay(), Duration(0));
  EXPECT_EQ(scheduler_->adaptive_plan()->max_units, 8u);
  ModelMetrics page;
  page.BeginVersion("m", 1);
  scheduler_->DescribeMetrics(&page);
  EXPECT_EQ(
      page.Text(),
      R"(# HELP nereid_inline_execution_count Number of model executions performed by I/O threads
# TYPE nereid_inline_execution_count counter
nereid_inline_execution_count{model="m",version="1"} 0
# HELP nereid_adaptive_batch_delay_us Longest wait for a batch to grow that adaptive batching has chosen, in microseconds
# TYPE nereid_adaptive_batch_delay_us gauge
nereid_adaptive_batch_delay_us{model="m",version="1"} 0
# HELP nereid_adaptive_batch_size Largest batch that adaptive batching has chosen
# TYPE nereid_adaptive_batch_size gauge
nereid_adaptive_batch_size{model="m",version="1"} 8
)");
  for (int i = 0; i < 3; ++i) Enqueue();
  EXPECT_EQ(Begin(), 3u);
}

TEST_F(AdaptiveSchedulerTest, LearnsToWaitForABurst) {
  UseTarget(milliseconds(10));
  for (int burst = 0; burst < 200 && delay() == Duration(0); ++burst) {
    // The first request runs at once, for 6 ms, and the other three come too late.
    Enqueue();
    ASSERT_EQ(Begin(), 1u);
    for (int i = 0; i < 3; ++i) {
      clock_.Advance(microseconds(100));
      Enqueue();
    }
    clock_.Advance(microseconds(5700));
    ASSERT_EQ(Begin(), 3u);
    clock_.Advance(milliseconds(6));
  }
  ASSERT_GT(delay(), Duration(0));

  Enqueue();
  EXPECT_FALSE(scheduler_->TryPull().has_value());
  clock_.Advance(delay() - microseconds(1));
  Enqueue();
  EXPECT_FALSE(scheduler_->TryPull().has_value());
  clock_.Advance(microseconds(1));
  EXPECT_EQ(Begin(), 2u);
}

TEST_F(AdaptiveSchedulerTest, AnInstanceThatWaitsIsWokenWhenTheDelayIsOver) {
  UseTarget(milliseconds(10));
  Pull();
  Enqueue();
  // Nothing has been measured yet, so the delay is 0.
  EXPECT_THAT(NextBatch(), ::testing::ElementsAre("0"));
}

}  // namespace
}  // namespace nereid
