// SPDX-License-Identifier: Apache-2.0
#include "scheduling/adaptive/shadow_queue.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr TimePoint kStart = TimePoint(std::chrono::seconds(100));
constexpr Duration kTarget = milliseconds(5);

// A model that takes 1 ms for every batch.
class ShadowQueueTest : public ::testing::Test {
 protected:
  ShadowQueueTest() {
    for (int i = 0; i < 600; ++i) {
      for (const uint64_t units : {1, 2, 4, 8}) curve_.Record(units, milliseconds(1));
    }
  }

  void Arrive(ShadowQueue* queue, Duration after, uint32_t units = 1) {
    log_.Add({kStart + after, units});
    queue->Arrive();
  }

  ServiceCurve curve_{8};
  ArrivalLog log_;
};

TEST_F(ShadowQueueTest, WithoutDelayTheFirstRunsAloneAndTheOthersWaitForIt) {
  ShadowQueue queue(&log_, &curve_, kTarget, 1);
  queue.set_plan({Duration(0), 8});
  Arrive(&queue, microseconds(0));
  EXPECT_EQ(queue.waiting(), 0u);
  Arrive(&queue, microseconds(100));
  Arrive(&queue, microseconds(200));
  EXPECT_EQ(queue.waiting(), 2u);
  // The two ran together from 1 to 2 ms.
  Arrive(&queue, microseconds(1500));
  EXPECT_EQ(queue.waiting(), 1u);
}

TEST_F(ShadowQueueTest, WithADelayTheyRunTogether) {
  ShadowQueue queue(&log_, &curve_, kTarget, 1);
  queue.set_plan({microseconds(500), 8});
  for (const int at : {0, 100, 200}) Arrive(&queue, microseconds(at));
  EXPECT_EQ(queue.waiting(), 3u);
  Arrive(&queue, microseconds(600));
  EXPECT_EQ(queue.waiting(), 1u);
}

TEST_F(ShadowQueueTest, AFullBatchDoesNotWait) {
  ShadowQueue queue(&log_, &curve_, kTarget, 1);
  queue.set_plan({milliseconds(2), 4});
  Arrive(&queue, microseconds(0), 3);
  EXPECT_EQ(queue.waiting(), 1u);
  Arrive(&queue, microseconds(10), 1);
  EXPECT_EQ(queue.waiting(), 0u);
}

TEST_F(ShadowQueueTest, EveryInstanceTakesBatches) {
  ShadowQueue queue(&log_, &curve_, kTarget, 2);
  queue.set_plan({Duration(0), 8});
  for (const int at : {0, 100, 200}) Arrive(&queue, microseconds(at));
  EXPECT_EQ(queue.waiting(), 1u);
}

TEST_F(ShadowQueueTest, LateRequestsAreWhatCosts) {
  // If 20 requests come at once and run in batches of 2, half of them wait for more than 5 ms.
  ShadowQueue small(&log_, &curve_, kTarget, 1);
  small.set_plan({Duration(0), 2});
  ShadowQueue large(&log_, &curve_, kTarget, 1);
  large.set_plan({Duration(0), 8});
  for (int burst = 0; burst < 200; ++burst) {
    for (int i = 0; i < 20; ++i) {
      log_.Add({kStart + milliseconds(50) * burst, 1});
      small.Arrive();
      large.Arrive();
    }
  }
  EXPECT_EQ(large.late(), 0);
  EXPECT_GT(small.late(), 0.2);
  EXPECT_GT(small.cost(), large.cost());
}

TEST_F(ShadowQueueTest, OfTwoThatAreInTimeTheShorterWaitIsBetter) {
  ShadowQueue prompt(&log_, &curve_, kTarget, 1);
  prompt.set_plan({Duration(0), 8});
  ShadowQueue patient(&log_, &curve_, kTarget, 1);
  patient.set_plan({milliseconds(2), 8});
  for (int i = 0; i < 1000; ++i) {
    log_.Add({kStart + milliseconds(20) * i, 1});
    prompt.Arrive();
    patient.Arrive();
  }
  EXPECT_EQ(patient.late(), 0);
  EXPECT_LT(prompt.cost(), patient.cost());
}

TEST_F(ShadowQueueTest, AQueueThatGrowsWithoutEndIsLateAndBounded) {
  ShadowQueue queue(&log_, &curve_, kTarget, 1);
  queue.set_plan({Duration(0), 8});
  for (int i = 0; i < 20'000; ++i) Arrive(&queue, microseconds(10) * i);
  EXPECT_GT(queue.late(), 0.9);
  EXPECT_LE(queue.waiting(), ArrivalLog::kSize / 2);
}

}  // namespace
}  // namespace nereid
