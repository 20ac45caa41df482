#include "scheduling/dynamic/dynamic_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"
#include "scheduling/testing/puller.h"

namespace nereid {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;

constexpr microseconds kDelay{1000};
constexpr char kStopping[] =
    "Server is stopping, scheduler for model has stopped accepting new inference requests";

class DynamicSchedulerTest : public ::testing::Test {
 protected:
  void TearDown() override {
    if (scheduler_ != nullptr) scheduler_->Shutdown();
    puller_.reset();
    if (scheduler_ != nullptr) scheduler_->DropStrategy();
    scheduler_.reset();  // before the requests that its queue may hold
  }

  // A model with one INT8 input whose one dimension may vary.
  static ModelBuilder Model(int32_t max_batch = 8) {
    ModelBuilder builder("m");
    builder.MaxBatch(max_batch).Input("in", DataType::kInt8, {-1});
    return builder;
  }

  void Use(const ModelBuilder& builder, std::unique_ptr<BatchStrategy> strategy = nullptr) {
    model_ = FakeModel::Make(builder, &clock_);
    scheduler_ =
        std::make_unique<DynamicScheduler>(&model_->config(), std::move(strategy), &clock_);
    model_->on_cancel = [this] { scheduler_->OnCancel(); };
  }

  TestRequest& NewRequest(int64_t batch = 1, int64_t length = 1) {
    requests_.push_back(std::make_unique<TestRequest>(model_));
    TestRequest& request = *requests_.back();
    request->set_id(std::to_string(requests_.size() - 1));
    const bool batched = model_->config().max_batch_size > 0;
    request.Input("in", DataType::kInt8, batched ? Shape{batch, length} : Shape{length});
    return request;
  }

  // Queues a new request and returns it.
  TestRequest& Enqueue(int64_t batch = 1, int64_t length = 1) {
    TestRequest& request = NewRequest(batch, length);
    RequestPtr owned = request.Issue();
    const absl::Status status = scheduler_->Enqueue(&owned);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(owned, nullptr);
    return request;
  }

  void Pull(int threads = 1, bool hold = false) {
    puller_ = std::make_unique<Puller>(scheduler_.get(), &clock_, threads, hold);
  }

  // Ids of the next batch that an instance took, with the time it did.
  std::vector<std::string> NextBatch(TimePoint* at = nullptr) {
    const Puller::Pulled pulled = puller_->Next();
    if (at != nullptr) *at = pulled.at;
    std::vector<std::string> ids;
    // The requests are this fixture's; ids do not change in flight.
    for (InferRequest* request : pulled.requests) ids.push_back(request->id());
    return ids;
  }

  // Until an instance waits for the delay of a batch. Given way to, not slept for.
  void AwaitLeader() {
    while (clock_.TimedWaiters() == 0) std::this_thread::yield();
  }

  uint64_t Failures(FailureReason reason) {
    return model_->statistics().Snapshot().failures[static_cast<size_t>(reason)];
  }

  FakeClock clock_;
  std::shared_ptr<FakeModel> model_;
  std::unique_ptr<DynamicScheduler> scheduler_;
  std::deque<std::unique_ptr<TestRequest>> requests_;
  std::unique_ptr<Puller> puller_;
};

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
  EXPECT_EQ(Enqueue()->queue_start_ns, now);
}

TEST_F(DynamicSchedulerTest, AQueueTimeGivenByAnOuterSchedulerStays) {
  Use(Model());
  TestRequest& request = NewRequest();
  RequestPtr owned = request.Issue();
  owned->queue_start_ns = 7;
  ASSERT_TRUE(scheduler_->Enqueue(&owned).ok());
  EXPECT_EQ(request->queue_start_ns, 7u);
}

// ---- Several instances

TEST_F(DynamicSchedulerTest, InstancesWorkAtTheSameTime) {
  Use(Model());
  Pull(/*threads=*/3, /*hold=*/true);
  for (int i = 0; i < 3; ++i) Enqueue();
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(NextBatch().at(0));  // none of them has finished
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

// ---- Doors

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
  EXPECT_TRUE(scheduler_->Pull().empty());
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

// ---- A strategy of the model's own

// Writes down how it is called; refuses requests with the given ids.
class NotingStrategy final : public BatchStrategy {
 public:
  NotingStrategy(std::vector<std::string> refused, std::vector<std::string>* calls)
      : refused_(std::move(refused)), calls_(calls) {}
  void Begin() override { calls_->push_back("begin"); }
  bool Include(InferRequest* request) override {
    calls_->push_back("include " + request->id());
    return std::find(refused_.begin(), refused_.end(), request->id()) == refused_.end();
  }
  void End() override { calls_->push_back("end"); }

 private:
  const std::vector<std::string> refused_;
  std::vector<std::string>* const calls_;
};

class StrategyTest : public DynamicSchedulerTest {
 protected:
  void UseStrategy(const ModelBuilder& builder, std::vector<std::string> refused = {}) {
    Use(builder, std::make_unique<NotingStrategy>(std::move(refused), &calls_));
  }
  // The calls so far. REQUIRES: no instance is pulling.
  std::vector<std::string> Stop() {
    scheduler_->Shutdown();
    puller_->WaitStopped();
    scheduler_->DropStrategy();
    return calls_;
  }

  std::vector<std::string> calls_;
};

TEST_F(StrategyTest, IsAskedAboutEveryRequestOfABatch) {
  UseStrategy(Model().Batching());
  for (int i = 0; i < 3; ++i) Enqueue();
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0", "1", "2"));
  EXPECT_THAT(Stop(), ElementsAre("begin", "include 0", "include 1", "include 2", "end"));
}

TEST_F(StrategyTest, TheBatchHasEndedWhenItRuns) {
  UseStrategy(Model().Batching());
  Enqueue();
  Pull(/*threads=*/1, /*hold=*/true);
  NextBatch();
  EXPECT_THAT(calls_, ElementsAre("begin", "include 0", "end"));
}

TEST_F(StrategyTest, ARefusedRequestBeginsTheNextBatch) {
  UseStrategy(Model().Batching(), {"2"});
  for (int i = 0; i < 4; ++i) Enqueue();
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0", "1"));
  EXPECT_THAT(NextBatch(), ElementsAre("2", "3"));
  EXPECT_THAT(Stop(), ElementsAre("begin", "include 0", "include 1", "include 2", "end", "begin",
                                  "include 2", "include 3", "end"));
}

TEST_F(StrategyTest, ARefusedRequestEndsTheWait) {
  UseStrategy(Model().Batching({}, kDelay), {"1"});
  Enqueue();
  Pull();
  AwaitLeader();
  Enqueue();
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
}

TEST_F(StrategyTest, AStrategyThatRefusesEverythingGetsBatchesOfOne) {
  UseStrategy(Model().Batching(), {"0", "1", "2"});
  for (int i = 0; i < 3; ++i) Enqueue();
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
  EXPECT_THAT(NextBatch(), ElementsAre("1"));
  EXPECT_THAT(NextBatch(), ElementsAre("2"));
}

TEST_F(StrategyTest, TheOtherLimitsStillHold) {
  UseStrategy(Model(2).Batching());
  for (int i = 0; i < 3; ++i) Enqueue();
  Enqueue(1, 2);
  Pull();
  EXPECT_THAT(NextBatch(), ElementsAre("0", "1"));
  EXPECT_THAT(NextBatch(), ElementsAre("2"));
  EXPECT_THAT(NextBatch(), ElementsAre("3"));
}

TEST_F(StrategyTest, IsAskedAboutArrivalsWhileABatchForms) {
  UseStrategy(Model().Batching({3}, kDelay));
  Enqueue();
  Pull();
  AwaitLeader();
  Enqueue();
  Enqueue();
  EXPECT_THAT(NextBatch(), ElementsAre("0", "1", "2"));
  EXPECT_THAT(Stop(), ElementsAre("begin", "include 0", "include 1", "include 2", "end"));
}

TEST_F(StrategyTest, BeginsAnewWhenARequestIsCancelled) {
  UseStrategy(Model().Batching({3}, kDelay));
  TestRequest& cancelled = Enqueue();
  Pull();
  AwaitLeader();
  ASSERT_TRUE(cancelled->Cancel().ok());
  EXPECT_EQ(cancelled.releases(), 1);
  for (int i = 0; i < 3; ++i) Enqueue();
  EXPECT_THAT(NextBatch(), ElementsAre("1", "2", "3"));
  EXPECT_THAT(Stop(), ElementsAre("begin", "include 0", "end", "begin", "include 1", "include 2",
                                  "include 3", "end"));
}

TEST_F(StrategyTest, ABatchThatNeverFormedIsEnded) {
  UseStrategy(Model().Batching({}, kDelay));
  Enqueue();
  Pull();
  AwaitLeader();
  EXPECT_THAT(Stop(), ElementsAre("begin", "include 0", "end"));
  EXPECT_EQ(requests_[0]->final_status(), absl::UnavailableError(kStopping));
}

TEST_F(StrategyTest, OneThatWasNeverAskedIsNeverCalled) {
  UseStrategy(Model().Batching());
  Pull();
  EXPECT_THAT(Stop(), ElementsAre());
}

// A strategy that stops inside Include until it is let go, and holds up nobody else.
class HeldStrategy final : public BatchStrategy {
 public:
  void Begin() override {}
  bool Include(InferRequest*) override {
    MutexLock lock(&mu_);
    asked_ = true;
    changed_.NotifyAll();
    while (!go_) changed_.Wait(&mu_);
    return true;
  }
  void End() override {}
  void AwaitAsked() {
    MutexLock lock(&mu_);
    while (!asked_) changed_.Wait(&mu_);
  }
  void Go() {
    MutexLock lock(&mu_);
    go_ = true;
    changed_.NotifyAll();
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool asked_ ABSL_GUARDED_BY(mu_) = false;
  bool go_ ABSL_GUARDED_BY(mu_) = false;
};

TEST_F(DynamicSchedulerTest, WhileAStrategyThinksOthersAreNotHeldUp) {
  auto owned = std::make_unique<HeldStrategy>();
  HeldStrategy* const strategy = owned.get();
  Use(Model().Batching(), std::move(owned));
  TestRequest& thought_of = Enqueue();
  Pull();
  strategy->AwaitAsked();
  TestRequest& cancelled = Enqueue();  // does not wait for the strategy
  ASSERT_TRUE(cancelled->Cancel().ok());
  ASSERT_TRUE(thought_of->Cancel().ok());
  EXPECT_EQ(thought_of.releases(), 0) << "the strategy is looking at it";
  strategy->Go();
  thought_of.WaitDone();
  cancelled.WaitDone();
  EXPECT_EQ(thought_of.final_status(), absl::CancelledError(""));
  EXPECT_EQ(cancelled.final_status(), absl::CancelledError(""));
}

TEST_F(DynamicSchedulerTest, ShutdownWaitsForAStrategyThatThinks) {
  auto owned = std::make_unique<HeldStrategy>();
  HeldStrategy* const strategy = owned.get();
  Use(Model().Batching(), std::move(owned));
  TestRequest& request = Enqueue();
  Pull();
  strategy->AwaitAsked();
  std::thread shutdown([this] { scheduler_->Shutdown(); });
  strategy->Go();
  shutdown.join();
  puller_->WaitStopped();
  request.WaitDone();
  EXPECT_EQ(request.releases(), 1);
  EXPECT_EQ(request.answer_count(), 1u) << "it ran or it was refused, once";
}

}  // namespace
}  // namespace nereid
