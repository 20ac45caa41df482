// SPDX-License-Identifier: Apache-2.0
// Why batches leave the queue of a DynamicScheduler: scripted arrivals on a fake clock, whose
// reasons are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "scheduling/testing/scheduler_fixture.h"

namespace nereid {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Keeps the numbers of nereid_batch_count by reason.
class ReasonSink final : public MetricSink {
 public:
  using MetricSink::Report;
  void Report(const MetricFamily& family, double value,
              absl::Span<const MetricLabel> more) override {
    if (std::string(family.name) != "nereid_batch_count") return;
    ASSERT_EQ(more.size(), 1u);
    EXPECT_EQ(more[0].name, "reason");
    counts[std::string(more[0].value)] = static_cast<int>(value);
  }
  void Report(const MetricFamily&, const HistogramNumbers&) override {}
  void Report(const MetricFamily&, const SummaryNumbers&) override {}

  std::map<std::string, int> counts;
};

class BatchReasonsTest : public SchedulerFixture {
 protected:
  // An instance without a thread takes what is due now. Returns the number of requests.
  size_t Take() {
    std::optional<Batch> batch = scheduler_->TryPull();
    if (!batch.has_value()) return 0;
    const size_t size = batch->size();
    FinishBatch(*std::move(batch));
    return size;
  }
  std::map<std::string, int> Reasons() const {
    ReasonSink sink;
    scheduler_->DescribeMetrics(&sink);
    return sink.counts;
  }
};

TEST_F(BatchReasonsTest, NothingHasLeftYet) {
  Use(Model().Batching({}, kDelay));
  Enqueue();
  EXPECT_EQ(Take(), 0u);
  EXPECT_THAT(Reasons(), IsEmpty());
}

TEST_F(BatchReasonsTest, AModelThatDoesNotBatch) {
  Use(Model());
  Enqueue();
  Enqueue();
  EXPECT_EQ(Take() + Take(), 2u);
  EXPECT_THAT(Reasons(), ElementsAre(Pair("not_batched", 2)));
}

TEST_F(BatchReasonsTest, SeparateRequestsAreBatchesOfTheirOwn) {
  class Instance final : public BatchExecutor {
   public:
    Duration Execute(Batch) override { return Duration(0); }
    uint32_t most_separate() const override { return 2; }
  };
  Use(Model());
  for (int i = 0; i < 3; ++i) Enqueue();
  Instance instance;
  for (int i = 0; i < 2; ++i) FinishBatch(scheduler_->Pull(&instance, std::nullopt));
  EXPECT_THAT(Reasons(), ElementsAre(Pair("not_batched", 3)));
}

TEST_F(BatchReasonsTest, WithoutADelayTheIdleInstanceOrTheSize) {
  Use(Model().Batching());
  for (int i = 0; i < 11; ++i) Enqueue();
  EXPECT_EQ(Take(), 8u);
  EXPECT_EQ(Take(), 3u);
  EXPECT_THAT(Reasons(), ElementsAre(Pair("full", 1), Pair("idle_instance", 1)));
}

TEST_F(BatchReasonsTest, TheDelay) {
  Use(Model().Batching({}, kDelay));
  Enqueue();
  Enqueue();
  clock_.Advance(kDelay);
  EXPECT_EQ(Take(), 2u);
  EXPECT_THAT(Reasons(), ElementsAre(Pair("delay_over", 1)));
}

TEST_F(BatchReasonsTest, APreferredSize) {
  Use(Model().Batching({4}, kDelay));
  for (int i = 0; i < 5; ++i) Enqueue();
  EXPECT_EQ(Take(), 4u);
  EXPECT_EQ(Take(), 0u);
  EXPECT_THAT(Reasons(), ElementsAre(Pair("preferred_size", 1)));
}

TEST_F(BatchReasonsTest, ARequestOfAnotherShape) {
  Use(Model().Batching({}, kDelay));
  Enqueue(1, 3);
  Enqueue(1, 4);
  EXPECT_EQ(Take(), 1u);
  EXPECT_THAT(Reasons(), ElementsAre(Pair("shape_change", 1)));
}

TEST_F(BatchReasonsTest, AllBatchesAreCountedOnce) {
  Use(Model().Batching({2}, kDelay));
  int batches = 0;
  for (int i = 0; i < 50; ++i) {
    Enqueue(1 + i % 3, 1 + i % 2);
    while (Take() > 0) ++batches;
    clock_.Advance(milliseconds(1) / 3);
  }
  clock_.Advance(kDelay);
  while (Take() > 0) ++batches;
  int counted = 0;
  for (const auto& [reason, count] : Reasons()) counted += count;
  EXPECT_EQ(counted, batches);
}

}  // namespace
}  // namespace nereid
