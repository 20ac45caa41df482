// SPDX-License-Identifier: Apache-2.0
#include "scheduling/dynamic/request_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TimePoint kStart = TimePoint(std::chrono::seconds(100));

QueuePolicy TimeOut(microseconds timeout, bool delay = false) {
  QueuePolicy policy;
  policy.default_timeout = timeout;
  if (delay) policy.timeout_action = QueuePolicy::TimeoutAction::kDelay;
  return policy;
}

QueuePolicy Limit(uint32_t size) {
  QueuePolicy policy;
  policy.max_queue_size = size;
  return policy;
}

class RequestQueueTest : public ::testing::Test {
 protected:
  void Use(ModelBuilder builder) {
    model_ = FakeModel::Make(builder.MaxBatch(8).Batching());
    queue_ = std::make_unique<RequestQueue>(&model_->config().batching);
  }
  void TearDown() override { queue_.reset(); }

  // Ids are numbers in the order of the calls. Returns false if the queue was full.
  bool Push(uint64_t priority = 0, microseconds at = microseconds(0), uint64_t timeout_us = 0) {
    requests_.push_back(std::make_unique<TestRequest>(model_));
    TestRequest& request = *requests_.back();
    request->set_id(std::to_string(requests_.size() - 1));
    request->set_priority(priority);
    request->set_timeout_us(timeout_us);
    RequestPtr owned = request.Issue();
    if (queue_->Push(&owned, kStart + at)) return true;
    request.TakeBack(std::move(owned));
    return false;
  }
  std::vector<std::string> Order() const {
    std::vector<std::string> ids;
    for (size_t i = 0; i < queue_->size(); ++i) ids.push_back(queue_->At(i).request->id());
    return ids;
  }
  void Remove(size_t index) {
    queue_->Remove(requests_[index]->get()->FindSlot<QueueEntry>()).reset();
  }
  // Ids of the requests that were rejected.
  std::vector<std::string> Expire(microseconds at) {
    Rejected rejected;
    queue_->Expire(kStart + at, &rejected);
    std::vector<std::string> ids;
    for (const RequestPtr& request : rejected) ids.push_back(request->id());
    return ids;
  }

  using Rejected = std::vector<RequestPtr>;
  std::shared_ptr<FakeModel> model_;
  std::deque<std::unique_ptr<TestRequest>> requests_;
  std::unique_ptr<RequestQueue> queue_;
};

TEST_F(RequestQueueTest, OneLevelIsServedInTheOrderOfArrival) {
  Use(ModelBuilder());
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(Push(/*priority=*/9));
    EXPECT_TRUE(queue_->pushed_last());
  }
  EXPECT_THAT(Order(), ElementsAre("0", "1", "2", "3"));
  Remove(2);
  EXPECT_EQ(queue_->PopFront()->id(), "0");
  EXPECT_THAT(Order(), ElementsAre("1", "3"));
  EXPECT_EQ(requests_[0]->get()->FindSlot<QueueEntry>(), nullptr);
  EXPECT_EQ(requests_[1]->get()->FindSlot<QueueEntry>(), &queue_->front());
}

TEST_F(RequestQueueTest, LowerLevelsComeFirst) {
  Use(ModelBuilder().Priorities(3));
  for (const uint64_t priority : {2, 3, 1, 2, 0, 4, 1}) Push(priority);
  EXPECT_THAT(Order(), ElementsAre("2", "6", "0", "3", "1", "4", "5"));
  EXPECT_FALSE(queue_->pushed_last());
  Push(3);
  EXPECT_TRUE(queue_->pushed_last());
  Remove(6);
  Remove(2);
  Push(1);
  EXPECT_THAT(Order(), ElementsAre("8", "0", "3", "1", "4", "5", "7"));
}

TEST_F(RequestQueueTest, AnyNumberOfLevels) {
  Use(ModelBuilder().Priorities(~uint64_t{0}));
  for (const uint64_t priority : {~uint64_t{0}, uint64_t{1} << 40, uint64_t{0}}) Push(priority);
  EXPECT_THAT(Order(), ElementsAre("1", "0", "2"));
}

TEST_F(RequestQueueTest, ALevelIsFullWhenItHoldsItsLimit) {
  Use(ModelBuilder().Priorities(2).Policy(Limit(2), 1));
  EXPECT_TRUE(Push(1));
  EXPECT_TRUE(Push(1));
  EXPECT_FALSE(Push(1));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Push(2)) << "this one has no limit";
  Remove(0);
  EXPECT_TRUE(Push(1));
  EXPECT_FALSE(Push(1));
}

TEST_F(RequestQueueTest, TheDefaultPolicyHoldsForEachLevelByItself) {
  Use(ModelBuilder().Priorities(2).Policy(Limit(1)));
  EXPECT_TRUE(Push(1));
  EXPECT_TRUE(Push(2));
  EXPECT_FALSE(Push(1));
  EXPECT_FALSE(Push(2));
}

TEST_F(RequestQueueTest, TimedOutRequestsAreRejected) {
  Use(ModelBuilder().Policy(TimeOut(microseconds(100))));
  EXPECT_EQ(queue_->earliest_deadline(), std::nullopt);
  Push(0, microseconds(0));
  Push(0, microseconds(50));
  Push(0, microseconds(60));
  EXPECT_EQ(queue_->earliest_deadline(), kStart + microseconds(100));
  EXPECT_THAT(Expire(microseconds(99)), IsEmpty());
  EXPECT_THAT(Expire(microseconds(150)), ElementsAre("0", "1"));
  EXPECT_THAT(Order(), ElementsAre("2"));
  EXPECT_EQ(queue_->earliest_deadline(), kStart + microseconds(160));
  Remove(2);
  EXPECT_EQ(queue_->earliest_deadline(), std::nullopt);
}

TEST_F(RequestQueueTest, TimedOutRequestsAreServedAfterTheOthersOfTheirLevel) {
  Use(ModelBuilder()
          .Priorities(2)
          .Policy(TimeOut(microseconds(100), /*delay=*/true), 1)
          .Policy(Limit(0), 2));
  Push(1, microseconds(0));
  Push(1, microseconds(10));
  Push(1, microseconds(90));
  Push(2, microseconds(0));
  EXPECT_THAT(Expire(microseconds(120)), IsEmpty()) << "none is rejected";
  EXPECT_THAT(Order(), ElementsAre("2", "0", "1", "3")) << "and before the next level";
  Push(1, microseconds(130));
  EXPECT_THAT(Order(), ElementsAre("2", "4", "0", "1", "3"));
  EXPECT_THAT(Expire(microseconds(190)), IsEmpty());
  EXPECT_THAT(Order(), ElementsAre("4", "0", "1", "2", "3")) << "no time-out a second time";
  Remove(1);
  Remove(2);
  Push(1, microseconds(200));
  EXPECT_THAT(Expire(microseconds(1000)), IsEmpty());
  EXPECT_THAT(Order(), ElementsAre("0", "4", "5", "3"));
}

TEST_F(RequestQueueTest, WhatIsMovedBackCountsForTheLimit) {
  QueuePolicy policy = TimeOut(microseconds(100), /*delay=*/true);
  policy.max_queue_size = 2;
  Use(ModelBuilder().Policy(policy));
  Push();
  Expire(microseconds(100));
  EXPECT_TRUE(Push());
  EXPECT_FALSE(Push());
}

TEST_F(RequestQueueTest, ARequestMayAskForAShorterTime) {
  QueuePolicy policy = TimeOut(microseconds(100));
  policy.allow_timeout_override = true;
  Use(ModelBuilder().Policy(policy));
  Push(0, microseconds(0));
  Push(0, microseconds(0), 30);
  Push(0, microseconds(0), 500);
  EXPECT_EQ(queue_->earliest_deadline(), kStart + microseconds(30));
  EXPECT_THAT(Expire(microseconds(30)), ElementsAre("1"));
  EXPECT_THAT(Expire(microseconds(100)), ElementsAre("0", "2"));
}

TEST_F(RequestQueueTest, ABacklogIsForgottenWhenItIsGone) {
  Use(ModelBuilder().Policy(TimeOut(microseconds(100))));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3000; ++i) Push(0, microseconds(i % 7));
    for (int i = 0; i < 3000; ++i) EXPECT_NE(queue_->PopFront(), nullptr);
    EXPECT_TRUE(queue_->empty());
    EXPECT_EQ(queue_->earliest_deadline(), std::nullopt);
  }
}

}  // namespace
}  // namespace nereid
