// SPDX-License-Identifier: Apache-2.0
#include "scheduling/dynamic/dynamic_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduling/testing/scheduler_fixture.h"

namespace nereid {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;

using DynamicSchedulerTest = SchedulerFixture;

// ---- Batches

TEST_F(DynamicSchedulerTest, WithoutBatchingEveryRequestRunsAlone) {
  Use(Model());
  for (int i = 0; i < 3; ++i) Enqueue();
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
  EXPECT_THAT(NextBatch(), ElementsAre("1"));
  EXPECT_THAT(NextBatch(), ElementsAre("2"));
}

TEST_F(DynamicSchedulerTest, AModelWithoutBatchDimensionTakesOneAtATime) {
  Use(Model(0).Batching({}, kDelay));
  Enqueue();
  Enqueue();
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
  EXPECT_THAT(NextBatch(), ElementsAre("1"));
}

TEST_F(DynamicSchedulerTest, WithoutDelayABatchIsWhatIsQueued) {
  Use(Model().Batching());
  for (int i = 0; i < 10; ++i) Enqueue();
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0", "1", "2", "3", "4", "5", "6", "7"));
  EXPECT_THAT(NextBatch(), ElementsAre("8", "9"));
}

TEST_F(DynamicSchedulerTest, ABusyInstanceFindsWhatArrivedMeanwhile) {
  Use(Model().Batching());
  Pull(/*threads=*/1, /*hold=*/true);
  Enqueue();
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
  for (int i = 0; i < 3; ++i) Enqueue();
  puller_->Finish();
  EXPECT_THAT(NextBatch(), ElementsAre("1", "2", "3"));
}

TEST_F(DynamicSchedulerTest, BatchesCountElementsNotRequests) {
  Use(Model().Batching());
  for (const int64_t size : {3, 4, 2, 8}) Enqueue(size);
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0", "1"));
  EXPECT_THAT(NextBatch(), ElementsAre("2"));
  EXPECT_THAT(NextBatch(), ElementsAre("3"));
}

TEST_F(DynamicSchedulerTest, DifferentShapesNeverShareABatch) {
  Use(Model().Batching());
  for (const int64_t length : {1, 1, 2, 1}) Enqueue(1, length);
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0", "1"));
  EXPECT_THAT(NextBatch(), ElementsAre("2"));
  EXPECT_THAT(NextBatch(), ElementsAre("3"));
}

TEST_F(DynamicSchedulerTest, DifferentRequestedOutputsShareABatch) {
  Use(Model().Batching().Output("x", DataType::kInt8, {1}).Output("y", DataType::kInt8, {1}));
  for (const char* output : {"x", "y"}) {
    TestRequest& request = NewRequest();
    ASSERT_TRUE(request->AddRequestedOutput(output).ok());
    RequestPtr owned = request.Issue();
    ASSERT_TRUE(scheduler_->Enqueue(&owned).ok());
  }
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0", "1"));
}

// ---- The leader's wait

TEST_F(DynamicSchedulerTest, ARequestWaitsForTheDelay) {
  Use(Model().Batching({}, kDelay));
  Enqueue();
  const TimePoint due = clock_.Now() + kDelay;
  Pull();
  AwaitLeader();
  clock_.Advance(kDelay - microseconds(1));
  EXPECT_EQ(puller_->unseen(), 0u);
  clock_.Advance(microseconds(1));
  TimePoint at;
  EXPECT_THAT(NextBatch(&at), ElementsAre("0"));
  EXPECT_EQ(at, due);
}

TEST_F(DynamicSchedulerTest, TheDelayCountsFromTheArrivalNotFromThePull) {
  Use(Model().Batching({}, kDelay));
  Enqueue();
  clock_.Advance(kDelay);
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
}

TEST_F(DynamicSchedulerTest, RequestsThatArriveInTheDelayJoin) {
  Use(Model().Batching({}, kDelay));
  Enqueue();
  Pull();
  AwaitLeader();
  clock_.Advance(kDelay / 2);
  Enqueue();
  clock_.Advance(kDelay / 2);
  EXPECT_THAT(NextBatch(), ElementsAre("0", "1"));
}

TEST_F(DynamicSchedulerTest, TheRequestThatFillsTheBatchEndsTheWait) {
  Use(Model().Batching({4}, kDelay));
  Enqueue();
  const TimePoint start = clock_.Now();
  Pull();
  AwaitLeader();
  for (int i = 0; i < 3; ++i) Enqueue();
  TimePoint at;
  EXPECT_THAT(NextBatch(&at), ElementsAre("0", "1", "2", "3"));
  EXPECT_EQ(at, start) << "without any time passing";
}

TEST_F(DynamicSchedulerTest, AShapeChangeEndsTheWait) {
  Use(Model().Batching({}, kDelay));
  Enqueue(1, 1);
  Pull();
  AwaitLeader();
  Enqueue(1, 2);
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
  AwaitLeader();
  clock_.Advance(kDelay);
  EXPECT_THAT(NextBatch(), ElementsAre("1"));
}

TEST_F(DynamicSchedulerTest, AnIdleInstanceIsWokenByAnArrival) {
  Use(Model().Batching());
  Pull();
  Enqueue();
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
  Enqueue();
  EXPECT_THAT(NextBatch(), ElementsAre("1"));
}

TEST_F(DynamicSchedulerTest, TheQueueTimeIsStamped) {
  Use(Model());
  const uint64_t now = ToNanos(clock_.Now());
  EXPECT_EQ(Enqueue()->queue_start_ns(), now);
}

TEST_F(DynamicSchedulerTest, AQueueTimeGivenByAnOuterSchedulerStays) {
  Use(Model());
  TestRequest& request = NewRequest();
  RequestPtr owned = request.Issue();
  owned->set_queue_start_ns(7);
  ASSERT_TRUE(scheduler_->Enqueue(&owned).ok());
  EXPECT_EQ(request->queue_start_ns(), 7u);
}

// ---- Several instances

TEST_F(DynamicSchedulerTest, InstancesWorkAtTheSameTime) {
  Use(Model());
  Pull(/*threads=*/3, /*hold=*/true);
  for (int i = 0; i < 3; ++i) Enqueue();
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(NextBatch().at(0));  // none has finished its batch
  EXPECT_THAT(ids, ::testing::UnorderedElementsAre("0", "1", "2"));
}

TEST_F(DynamicSchedulerTest, WhatABatchLeavesBehindGoesToAnotherInstance) {
  Use(Model().Batching());
  for (int i = 0; i < 12; ++i) Enqueue();
  Pull(/*threads=*/2, /*hold=*/true);
  EXPECT_EQ(NextBatch().size() + NextBatch().size(), 12u);
}

TEST_F(DynamicSchedulerTest, OneOfSeveralIdleInstancesLeads) {
  Use(Model().Batching({}, kDelay));
  Pull(/*threads=*/3);
  Enqueue();
  AwaitLeader();
  EXPECT_EQ(clock_.TimedWaiters(), 1u);
  clock_.Advance(kDelay);
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
}

TEST_F(DynamicSchedulerTest, AfterAFullBatchTheRestStillHasALeader) {
  Use(Model().Batching({2}, kDelay));
  Pull(/*threads=*/3, /*hold=*/true);
  for (int i = 0; i < 3; ++i) Enqueue();
  EXPECT_THAT(NextBatch(), ElementsAre("0", "1"));
  AwaitLeader();
  clock_.Advance(kDelay);
  EXPECT_THAT(NextBatch(), ElementsAre("2"));
}

TEST_F(DynamicSchedulerTest, TheRequestThatEndsAWaitGetsALeaderOfItsOwn) {
  Use(Model().Batching({}, kDelay));
  Enqueue(1, 1);
  Pull(/*threads=*/4, /*hold=*/true);
  AwaitLeader();
  Enqueue(1, 2);
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
  AwaitLeader();
  clock_.Advance(kDelay);
  EXPECT_THAT(NextBatch(), ElementsAre("1")) << "by an instance that was idle all the time";
}

// ---- Cancellation

TEST_F(DynamicSchedulerTest, ACancelledRequestLeavesTheQueueAtOnce) {
  Use(Model().Batching());
  Enqueue();
  TestRequest& cancelled = Enqueue();
  Enqueue();
  ASSERT_TRUE(cancelled->Cancel().ok());
  EXPECT_EQ(cancelled.releases(), 1);
  EXPECT_EQ(cancelled.answer_count(), 1u);
  EXPECT_EQ(cancelled.final_status(), absl::CancelledError(""));
  EXPECT_EQ(Failures(FailureReason::kCanceled), 1u);
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0", "2"));
}

TEST_F(DynamicSchedulerTest, CancellingUnderAWaitingLeaderKeepsTheOthers) {
  Use(Model().Batching({4}, kDelay));
  Enqueue();
  TestRequest& cancelled = Enqueue();
  Pull();
  AwaitLeader();
  ASSERT_TRUE(cancelled->Cancel().ok());
  EXPECT_EQ(cancelled.final_status(), absl::CancelledError(""));
  for (int i = 0; i < 3; ++i) Enqueue();
  EXPECT_THAT(NextBatch(), ElementsAre("0", "2", "3", "4"));
}

TEST_F(DynamicSchedulerTest, TheNextOneWaitsForItsOwnDelayWhenTheOldestIsCancelled) {
  Use(Model().Batching({}, kDelay));
  TestRequest& oldest = Enqueue();
  Pull();
  AwaitLeader();
  clock_.Advance(kDelay / 2);
  Enqueue();
  const TimePoint due = clock_.Now() + kDelay;
  ASSERT_TRUE(oldest->Cancel().ok());
  clock_.Advance(kDelay / 2);
  AwaitLeader();
  clock_.Advance(kDelay / 2);
  TimePoint at;
  EXPECT_THAT(NextBatch(&at), ElementsAre("1"));
  EXPECT_EQ(at, due);
}

TEST_F(DynamicSchedulerTest, WhatIsLeftMayBeAPreferredBatch) {
  Use(Model().Batching({2, 6}, kDelay));
  TestRequest& first = Enqueue(1);
  Enqueue(2);
  Pull();
  AwaitLeader();
  ASSERT_TRUE(first->Cancel().ok());
  EXPECT_THAT(NextBatch(), ElementsAre("1")) << "2 is a preferred size, 1 + 2 was none";
}

TEST_F(DynamicSchedulerTest, CancellingEverythingLeavesTheLeaderAlone) {
  Use(Model().Batching({}, kDelay));
  TestRequest& only = Enqueue();
  Pull();
  AwaitLeader();
  ASSERT_TRUE(only->Cancel().ok());
  EXPECT_EQ(only.releases(), 1);
  clock_.Advance(kDelay);
  Enqueue();
  AwaitLeader();
  clock_.Advance(kDelay);
  EXPECT_THAT(NextBatch(), ElementsAre("1"));
}

TEST_F(DynamicSchedulerTest, ARunningRequestIsNotTakenAway) {
  Use(Model());
  Pull(/*threads=*/1, /*hold=*/true);
  TestRequest& running = Enqueue();
  NextBatch();
  ASSERT_TRUE(running->Cancel().ok());
  EXPECT_EQ(running.releases(), 0);
  puller_->Finish();
  running.WaitDone();
  EXPECT_TRUE(running.final_status().ok());
}

// ---- Admission and shutdown

TEST_F(DynamicSchedulerTest, ClosedAdmissionLeavesTheRequestWithItsOwner) {
  Use(Model());
  scheduler_->CloseAdmission();
  TestRequest& refused = NewRequest();
  RequestPtr owned = refused.Issue();
  EXPECT_EQ(scheduler_->Enqueue(&owned),
            absl::UnavailableError(std::string("[request id: 0] ") + kStopping));
  ASSERT_NE(owned, nullptr);
  EXPECT_EQ(refused.answer_count(), 0u);
  EXPECT_EQ(refused.releases(), 0);
  refused.TakeBack(std::move(owned));
}

TEST_F(DynamicSchedulerTest, ClosedAdmissionLetsPartsOfOtherRequestsPass) {
  Use(Model());
  scheduler_->CloseAdmission();
  TestRequest& part = NewRequest();
  part->MakePart(nullptr);
  RequestPtr owned = part.Issue();
  EXPECT_TRUE(scheduler_->Enqueue(&owned).ok());
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
  part.WaitDone();
}

TEST_F(DynamicSchedulerTest, ClosedAdmissionStillRunsWhatIsQueued) {
  Use(Model());
  Enqueue();
  Enqueue();
  scheduler_->CloseAdmission();
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
  EXPECT_THAT(NextBatch(), ElementsAre("1"));
}

TEST_F(DynamicSchedulerTest, ShutdownAnswersWhatIsQueued) {
  Use(Model().Batching());
  TestRequest& first = Enqueue();
  TestRequest& second = Enqueue();
  scheduler_->Shutdown();
  for (TestRequest* request : {&first, &second}) {
    EXPECT_EQ(request->releases(), 1);
    EXPECT_EQ(request->final_status(), absl::UnavailableError(kStopping));
  }
  EXPECT_EQ(Failures(FailureReason::kOther), 2u);
  EXPECT_EQ(model_->statistics().Snapshot().pending, 0);
  EXPECT_TRUE(scheduler_->Pull(nullptr, std::nullopt).empty());
}

TEST_F(DynamicSchedulerTest, ShutdownEndsEveryInstance) {
  Use(Model().Batching({}, kDelay));
  Enqueue();
  Pull(/*threads=*/4);
  AwaitLeader();
  scheduler_->Shutdown();
  puller_->WaitStopped();
  EXPECT_EQ(requests_[0]->releases(), 1);
}

TEST_F(DynamicSchedulerTest, ShutdownClosesAdmission) {
  Use(Model());
  scheduler_->Shutdown();
  TestRequest& refused = NewRequest();
  RequestPtr owned = refused.Issue();
  EXPECT_EQ(scheduler_->Enqueue(&owned).code(), absl::StatusCode::kUnavailable);
  refused.TakeBack(std::move(owned));
}

TEST_F(DynamicSchedulerTest, ARunningBatchSurvivesShutdown) {
  Use(Model());
  Pull(/*threads=*/1, /*hold=*/true);
  TestRequest& running = Enqueue();
  NextBatch();
  scheduler_->Shutdown();
  EXPECT_EQ(running.releases(), 0);
  puller_->Finish();
  running.WaitDone();
  EXPECT_TRUE(running.final_status().ok());
}

}  // namespace
}  // namespace nereid
