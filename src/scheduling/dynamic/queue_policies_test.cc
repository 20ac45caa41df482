// SPDX-License-Identifier: Apache-2.0
// DynamicScheduler with queue policies: priorities, limits, time-outs, and the hold for tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/timer.h"
#include "scheduling/testing/scheduler_fixture.h"

namespace nereid {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::ElementsAre;

QueuePolicy TimeOut(Duration timeout, bool delay = false) {
  QueuePolicy policy;
  policy.default_timeout = timeout;
  if (delay) policy.timeout_action = QueuePolicy::TimeoutAction::kDelay;
  return policy;
}

class QueuePolicyTest : public SchedulerFixture {
 protected:
  void TearDown() override {
    SchedulerFixture::TearDown();
    timer_.reset();
  }
  void UseTimer(const ModelBuilder& builder, std::unique_ptr<BatchStrategy> strategy = nullptr) {
    timer_ = std::make_unique<Timer>(&clock_);
    DynamicSchedulerOptions options;
    options.timer = timer_.get();
    Use(builder, std::move(strategy), Duration(0), options);
  }
  void Hold(const ModelBuilder& builder, size_t count) {
    DynamicSchedulerOptions options;
    options.hold_until_queued = count;
    Use(builder, nullptr, Duration(0), options);
  }

  TestRequest& EnqueueAt(uint64_t priority, uint64_t timeout_us = 0) {
    TestRequest& request = NewRequest();
    request->set_priority(priority);
    request->set_timeout_us(timeout_us);
    RequestPtr owned = request.Issue();
    EXPECT_TRUE(scheduler_->Enqueue(&owned).ok());
    return request;
  }
  // Starts an instance that executes request 0 until it is told to finish.
  void MakeBusy() {
    Pull(/*threads=*/1, /*hold=*/true);
    Enqueue();
    NextBatch();
  }

  std::unique_ptr<Timer> timer_;
};

TEST_F(QueuePolicyTest, PrioritiesOrderABacklog) {
  Use(Model().Batching({2}).Priorities(2));
  for (const uint64_t priority : {2, 2, 1, 0, 1, 1}) EnqueueAt(priority);
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("2", "4"));
  EXPECT_THAT(NextBatch(), ElementsAre("5", "0"));
  EXPECT_THAT(NextBatch(), ElementsAre("1", "3"));
}

TEST_F(QueuePolicyTest, AMoreUrgentRequestEndsTheWaitOfItsBatch) {
  Use(Model().Batching({2}, kDelay).Priorities(2));
  EnqueueAt(2);
  Pull();
  AwaitLeader();
  EnqueueAt(1);
  EXPECT_THAT(NextBatch(), ElementsAre("1", "0"));
}

TEST_F(QueuePolicyTest, AFullQueueRefuses) {
  QueuePolicy policy;
  policy.max_queue_size = 2;
  Use(Model().Batching().Policy(policy));
  Enqueue();
  Enqueue();
  TestRequest& refused = NewRequest();
  RequestPtr owned = refused.Issue();
  EXPECT_EQ(scheduler_->Enqueue(&owned),
            absl::UnavailableError("[request id: 2] Exceeds maximum queue size"));
  refused.TakeBack(std::move(owned));
  EXPECT_EQ(refused.answer_count(), 0u);
  EXPECT_EQ(Failures(FailureReason::kRejected), 1u);
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0", "1"));
  Enqueue();
  EXPECT_THAT(NextBatch(), ElementsAre("3"));
}

TEST_F(QueuePolicyTest, ATimeOutIsAnsweredWhileTheInstanceIsBusy) {
  UseTimer(Model().Batching().Policy(TimeOut(milliseconds(5))));
  MakeBusy();
  TestRequest& first = Enqueue();
  clock_.Advance(milliseconds(1));
  TestRequest& second = Enqueue();
  clock_.Advance(milliseconds(4));
  first.WaitDone();
  EXPECT_EQ(first.final_status(), absl::UnavailableError("Request timeout expired"));
  EXPECT_EQ(second.answer_count(), 0u);
  EXPECT_EQ(Failures(FailureReason::kRejected), 1u);
  clock_.Advance(milliseconds(1));
  second.WaitDone();
  EXPECT_EQ(second.final_status(), absl::UnavailableError("Request timeout expired"));
  Enqueue();
  puller_->Finish();
  EXPECT_THAT(NextBatch(), ElementsAre("3"));
}

TEST_F(QueuePolicyTest, AShorterTimeOutThanTheOnesBeforeIsNoticedInTime) {
  QueuePolicy policy = TimeOut(milliseconds(500));
  policy.allow_timeout_override = true;
  UseTimer(Model().Batching().Policy(policy));
  MakeBusy();
  TestRequest& patient = EnqueueAt(0);
  TestRequest& hasty = EnqueueAt(0, 2000);
  clock_.Advance(milliseconds(2));
  hasty.WaitDone();
  EXPECT_EQ(hasty.final_status(), absl::UnavailableError("Request timeout expired"));
  EXPECT_EQ(patient.answer_count(), 0u);
  clock_.Advance(milliseconds(498));
  patient.WaitDone();
}

TEST_F(QueuePolicyTest, WithoutATimerAnInstanceNoticesWhenItPulls) {
  Use(Model().Batching().Policy(TimeOut(milliseconds(5))));
  TestRequest& late = Enqueue();
  clock_.Advance(milliseconds(5));
  Enqueue();
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("1"));
  EXPECT_EQ(late.final_status(), absl::UnavailableError("Request timeout expired"));
}

TEST_F(QueuePolicyTest, DelayedRequestsRunAfterTheOthers) {
  UseTimer(Model(0).Batching().Policy(TimeOut(milliseconds(5), /*delay=*/true)));
  MakeBusy();
  Enqueue();
  clock_.Advance(milliseconds(5));
  Enqueue();
  puller_->Finish();
  EXPECT_THAT(NextBatch(), ElementsAre("2"));
  puller_->Finish();
  EXPECT_THAT(NextBatch(), ElementsAre("1"));
  EXPECT_EQ(Failures(FailureReason::kRejected), 0u);
}

TEST_F(QueuePolicyTest, TheRestOfABatchWaitsOnWhenOneTimesOut) {
  UseTimer(Model().Batching({4}, milliseconds(10)).Policy(TimeOut(milliseconds(6))));
  Pull();
  TestRequest& first = Enqueue();
  AwaitLeader();
  clock_.Advance(milliseconds(3));
  Enqueue();
  clock_.Advance(milliseconds(3));
  first.WaitDone();
  for (int i = 0; i < 3; ++i) Enqueue();
  EXPECT_THAT(NextBatch(), ElementsAre("1", "2", "3", "4"));
}

TEST_F(QueuePolicyTest, ShutdownIsNotHinderedByTimeOuts) {
  UseTimer(Model().Batching().Policy(TimeOut(milliseconds(5))));
  MakeBusy();
  TestRequest& queued = Enqueue();
  scheduler_->Shutdown();
  EXPECT_EQ(queued.final_status(), absl::UnavailableError(kStopping));
  clock_.Advance(milliseconds(50));
}

TEST_F(QueuePolicyTest, ACancelledRequestIsDroppedWhileTheInstanceIsBusy) {
  UseTimer(Model().Batching().Policy(TimeOut(milliseconds(5))));
  MakeBusy();
  TestRequest& cancelled = Enqueue();
  Enqueue();
  ASSERT_TRUE(cancelled->Cancel().ok());
  ASSERT_TRUE(cancelled->Cancel().ok());
  EXPECT_EQ(cancelled.final_status(), absl::CancelledError(""));
  EXPECT_EQ(cancelled.answer_count(), 1u);
  puller_->Finish();
  EXPECT_THAT(NextBatch(), ElementsAre("2"));
  EXPECT_EQ(Failures(FailureReason::kCanceled), 1u);
}

TEST_F(QueuePolicyTest, ARequestThatIsCancelledBeforeItIsQueuedIsAnsweredAtOnce) {
  Use(Model().Batching());
  TestRequest& request = NewRequest();
  RequestPtr owned = request.Issue();
  ASSERT_TRUE(request->Cancel().ok());
  EXPECT_TRUE(scheduler_->Enqueue(&owned).ok());
  EXPECT_EQ(request.final_status(), absl::CancelledError(""));
  EXPECT_EQ(request.releases(), 1);
}

// ---- While a strategy is asked, requests may be queued, but none leaves the queue.

class PausingStrategy final : public BatchStrategy {
 public:
  void Begin() override { log.push_back("begin"); }
  bool Include(InferRequest* request) override {
    if (on_include) std::exchange(on_include, nullptr)();
    log.push_back(request->id());
    return true;
  }
  void End() override { log.push_back("end"); }

  std::function<void()> on_include;
  std::vector<std::string> log;
};

TEST_F(QueuePolicyTest, WhatHappensWhileTheStrategyIsAsked) {
  auto owned_strategy = std::make_unique<PausingStrategy>();
  PausingStrategy* const strategy = owned_strategy.get();
  UseTimer(Model().Batching().Priorities(2).Policy(TimeOut(milliseconds(5)), 1),
           std::move(owned_strategy));
  TestRequest& cancelled = EnqueueAt(2);
  EnqueueAt(2);
  strategy->on_include = [&] {
    EXPECT_TRUE(cancelled->Cancel().ok());
    EXPECT_EQ(cancelled.answer_count(), 0u) << "it is being looked at";
    EnqueueAt(1);
  };
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("2", "1"));
  cancelled.WaitDone();
  EXPECT_EQ(cancelled.final_status(), absl::CancelledError(""));
  scheduler_->Shutdown();
  puller_->WaitStopped();
  // A new batch begins to form when a request is queued in front, or when one leaves the queue.
  EXPECT_THAT(strategy->log, ElementsAre("begin", "0", "end", "begin", "2", "0", "1", "end",
                                         "begin", "2", "1", "end"));
}

// ---- Held work

TEST_F(QueuePolicyTest, NothingRunsBeforeEnoughIsQueued) {
  Hold(Model().Batching(), 3);
  Pull();
  Enqueue();
  Enqueue();
  EXPECT_EQ(puller_->unseen(), 0u);
  Enqueue();
  EXPECT_THAT(NextBatch(), ElementsAre("0", "1", "2"));
  Enqueue();
  EXPECT_THAT(NextBatch(), ElementsAre("3")) << "once";
}

TEST_F(QueuePolicyTest, HeldWorkRunsWhenNoMoreCanCome) {
  Hold(Model().Batching(), 3);
  Enqueue();
  Pull();
  scheduler_->CloseAdmission();
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
}

TEST_F(QueuePolicyTest, AModelWithoutBatchingHoldsNothing) {
  Hold(Model(), 3);
  Enqueue();
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
}

}  // namespace
}  // namespace nereid
