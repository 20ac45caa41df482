// SPDX-License-Identifier: Apache-2.0
// DynamicScheduler with a model's own BatchStrategy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "scheduling/dynamic/dynamic_scheduler.h"
#include "scheduling/testing/scheduler_fixture.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

// Notes its calls, and refuses requests with the given ids.
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

class StrategyTest : public SchedulerFixture {
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

// A strategy that blocks inside Include, or inside End, until Go is called.
class HeldStrategy final : public BatchStrategy {
 public:
  enum class In { kInclude, kEnd };
  explicit HeldStrategy(In in) : in_(in) {}
  void Begin() override {}
  bool Include(InferRequest*) override {
    if (in_ == In::kInclude) Stop();
    return true;
  }
  void End() override {
    if (in_ == In::kEnd) Stop();
  }
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
  void Stop() {
    MutexLock lock(&mu_);
    asked_ = true;
    changed_.NotifyAll();
    while (!go_) changed_.Wait(&mu_);
  }

  const In in_;
  Mutex mu_;
  CondVar changed_;
  bool asked_ ABSL_GUARDED_BY(mu_) = false;
  bool go_ ABSL_GUARDED_BY(mu_) = false;
};

TEST_F(StrategyTest, WhileAStrategyThinksOthersAreNotHeldUp) {
  auto owned = std::make_unique<HeldStrategy>(HeldStrategy::In::kInclude);
  HeldStrategy* const strategy = owned.get();
  Use(Model().Batching(), std::move(owned));
  TestRequest& thought_of = Enqueue();
  Pull();
  strategy->AwaitAsked();
  TestRequest& cancelled = Enqueue();  // Enqueue does not wait for the strategy
  ASSERT_TRUE(cancelled->Cancel().ok());
  ASSERT_TRUE(thought_of->Cancel().ok());
  EXPECT_EQ(thought_of.releases(), 0) << "the strategy is looking at it";
  strategy->Go();
  thought_of.WaitDone();
  cancelled.WaitDone();
  EXPECT_EQ(thought_of.final_status(), absl::CancelledError(""));
  EXPECT_EQ(cancelled.final_status(), absl::CancelledError(""));
}

TEST_F(StrategyTest, ACancellationWhileItEndsABatchIsNotForgotten) {
  auto owned = std::make_unique<HeldStrategy>(HeldStrategy::In::kEnd);
  HeldStrategy* const strategy = owned.get();
  Use(Model(1).Batching(), std::move(owned));
  Enqueue();
  TestRequest& cancelled = Enqueue();
  Pull(/*threads=*/1, /*hold=*/true);
  strategy->AwaitAsked();
  ASSERT_TRUE(cancelled->Cancel().ok());
  strategy->Go();
  EXPECT_THAT(NextBatch(), ElementsAre("0"));
  cancelled.WaitDone();  // while the only instance is busy
  EXPECT_EQ(cancelled.final_status(), absl::CancelledError(""));
}

TEST_F(StrategyTest, ShutdownWaitsForAStrategyThatThinks) {
  auto owned = std::make_unique<HeldStrategy>(HeldStrategy::In::kInclude);
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
