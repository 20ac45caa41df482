// SPDX-License-Identifier: Apache-2.0
#include "scheduling/adaptive/adaptive_policy.h"

#include <gtest/gtest.h>

#include <vector>

#include "infer/testing/fake_model.h"

namespace nereid {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Why = BatchReason;

constexpr TimePoint kStart = TimePoint(std::chrono::seconds(100));
constexpr Duration kTarget = milliseconds(10);

struct Item {
  uint32_t units = 1;
  int shape = 0;
};

class FakeQueue final : public QueueView {
 public:
  explicit FakeQueue(std::vector<Item> queued) : items(std::move(queued)) {}
  size_t size() const override { return items.size(); }
  uint32_t units(size_t index) const override { return items[index].units; }
  TimePoint queued_at(size_t) const override { return kStart; }
  bool Compatible(size_t a, size_t b) const override { return items[a].shape == items[b].shape; }

  std::vector<Item> items;
};

class AdaptivePolicyTest : public ::testing::Test {
 protected:
  BatchDecision DecideAfter(Duration waited, const FakeQueue& queue) const {
    BatchCursor cursor;
    return policy_.Decide(rules_, queue, kStart + waited, &cursor);
  }

  // Records that the model takes `micros` for every batch.
  void Takes(int micros) {
    for (int i = 0; i < 600; ++i) {
      for (const uint64_t units : {1, 2, 4, 8}) policy_.OnExecuted(units, microseconds(micros));
    }
  }

  // Bursts of `size` requests that arrive 100 µs apart, one burst every 40 ms.
  void Bursts(int count, int size) {
    for (int burst = 0; burst < count; ++burst) {
      for (int i = 0; i < size; ++i) {
        policy_.OnArrival(kStart + milliseconds(40) * burst + microseconds(100) * i, 1);
      }
    }
  }

  const BatchPolicy rules_{ModelBuilder().MaxBatch(8).Batching().Build()};
  AdaptivePolicy policy_{{kTarget, 8, 1}};
};

TEST_F(AdaptivePolicyTest, UntilSomethingIsKnownNothingWaits) {
  for (int i = 0; i < 1000; ++i) policy_.OnArrival(kStart + microseconds(i), 1);
  EXPECT_EQ(policy_.plan().delay, Duration(0));
  EXPECT_EQ(policy_.plan().max_units, 8u);
  const BatchDecision decision = DecideAfter(Duration(0), FakeQueue({{}, {}}));
  EXPECT_EQ(decision.take, 2u);
  EXPECT_EQ(decision.why, Why::kIdleInstance);
}

TEST_F(AdaptivePolicyTest, WhereNothingIsWonByWaitingNothingWaits) {
  Takes(1000);
  for (int i = 0; i < 5000; ++i) policy_.OnArrival(kStart + milliseconds(20) * i, 1);
  EXPECT_EQ(policy_.plan().delay, Duration(0));
}

TEST_F(AdaptivePolicyTest, ABurstIsWaitedForWhereItsFirstRequestWouldMakeTheOthersLate) {
  // An execution takes 6 of 10 ms: requests that arrive during one would be late.
  Takes(6000);
  Bursts(1000, 4);
  const Duration delay = policy_.plan().delay;
  EXPECT_GE(delay, microseconds(281));
  EXPECT_LE(delay, milliseconds(3));

  const FakeQueue queue({{}, {}, {}});
  const BatchDecision waits = DecideAfter(delay - microseconds(1), queue);
  EXPECT_EQ(waits.take, 0u);
  EXPECT_EQ(waits.wake_at, kStart + delay);
  const BatchDecision runs = DecideAfter(delay, queue);
  EXPECT_EQ(runs.take, 3u);
  EXPECT_EQ(runs.why, Why::kDelayOver);
}

TEST_F(AdaptivePolicyTest, WhoeverWaitsIsNotMadeToWaitByWhatMayNotJoin) {
  Takes(6000);
  Bursts(1000, 4);
  const BatchDecision other = DecideAfter(Duration(0), FakeQueue({{}, {1, /*shape=*/7}}));
  EXPECT_EQ(other.take, 1u);
  EXPECT_EQ(other.why, Why::kShapeChange);
  const BatchDecision full = DecideAfter(Duration(0), FakeQueue({{5}, {4}}));
  EXPECT_EQ(full.take, 1u);
  EXPECT_EQ(full.why, Why::kFull);
}

TEST_F(AdaptivePolicyTest, LargeBatchesThatMakeTheirRequestsLateAreNotMade) {
  // A batch of eight takes 12 ms. In batches of two, the first six requests are in time.
  for (int i = 0; i < 600; ++i) {
    for (const int units : {1, 2, 4, 8}) {
      policy_.OnExecuted(static_cast<uint64_t>(units), microseconds(100 + 1490 * units));
    }
  }
  for (int burst = 0; burst < 1000; ++burst) {
    for (int i = 0; i < 8; ++i) policy_.OnArrival(kStart + milliseconds(40) * burst, 1);
  }
  EXPECT_LT(policy_.plan().max_units, 8u);
  const FakeQueue queue(std::vector<Item>(8));
  const BatchDecision limited = DecideAfter(Duration(0), queue);
  EXPECT_EQ(limited.take, policy_.plan().max_units);
  EXPECT_EQ(limited.why, Why::kTarget);
  // The limit does not apply to requests that are late in any case.
  const BatchDecision late = DecideAfter(kTarget, queue);
  EXPECT_EQ(late.take, 8u);
}

TEST_F(AdaptivePolicyTest, ARequestLargerThanEveryBatchRunsAlone) {
  Takes(1000);
  EXPECT_EQ(DecideAfter(Duration(0), FakeQueue({{20}, {1}})).take, 1u);
}

TEST_F(AdaptivePolicyTest, AnEmptyQueueIsNothingToDecide) {
  const BatchDecision decision = DecideAfter(Duration(0), FakeQueue({}));
  EXPECT_EQ(decision.take, 0u);
  EXPECT_FALSE(decision.wake_at.has_value());
}

}  // namespace
}  // namespace nereid
