// SPDX-License-Identifier: Apache-2.0
#include "scheduling/dynamic/dynamic_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StrategySessionTest : public ::testing::Test {
 protected:
  // Notes its calls, and checks that the mutex is not held then.
  class Strategy final : public BatchStrategy {
   public:
    explicit Strategy(StrategySessionTest* test) : test_(test) {}
    ~Strategy() override { Note("gone"); }
    void Begin() override { Note("begin"); }
    bool Include(InferRequest* request) override {
      Note("include " + request->id());
      if (test_->on_include) std::exchange(test_->on_include, nullptr)();
      return request->id() != "refused";
    }
    void End() override { Note("end"); }

   private:
    void Note(std::string call) {
      const bool unlocked = test_->mu_.TryLock();
      EXPECT_TRUE(unlocked) << "the mutex is held: " << call;
      if (unlocked) test_->mu_.Unlock();
      test_->calls_.push_back(std::move(call));
    }

    StrategySessionTest* const test_;
  };

  void SetUp() override {
    ModelBuilder builder("m");
    builder.MaxBatch(8).Input("in", DataType::kInt8, {1}).Batching().Priorities(2);
    model_ = FakeModel::Make(builder);
    queue_ = std::make_unique<BatchFormer>(&model_->config(), /*judged=*/true);
    session_ = std::make_unique<StrategySession>(std::make_unique<Strategy>(this));
  }
  void TearDown() override {
    session_.reset();
    queue_.reset();
  }

  void Push(const std::string& id, uint64_t priority = 2) {
    requests_.push_back(std::make_unique<TestRequest>(model_));
    TestRequest& request = *requests_.back();
    request->set_id(id);
    request->set_priority(priority);
    request.Input("in", DataType::kInt8, {1, 1});
    RequestPtr owned = request.Issue();
    MutexLock lock(&mu_);
    EXPECT_TRUE(queue_->Push(&owned, TimePoint()));
  }
  // Make all calls of one session, as a scheduler does. Whether there was any.
  bool Ask() {
    return MakeAll([this] { return session_->Ask(queue_.get()); });
  }
  bool End() {
    return MakeAll([this] { return session_->End(); });
  }
  bool MakeAll(const std::function<StrategySession::Call()>& first) {
    StrategySession::Call call;
    {
      MutexLock lock(&mu_);
      call = first();
    }
    if (!call) return false;
    while (call) {
      call.Make();
      MutexLock lock(&mu_);
      call = session_->Next(call, queue_.get());
    }
    return true;
  }
  void Close() {
    MutexLock lock(&mu_);
    session_->Close(&mu_);
  }
  void Drop() {
    StrategySession::Remains remains;
    MutexLock lock(&mu_);
    remains = session_->Drop();
  }
  bool asking() {
    MutexLock lock(&mu_);
    return session_->asking();
  }
  std::vector<std::string> TakeCalls() { return std::exchange(calls_, {}); }

  std::shared_ptr<FakeModel> model_;
  std::vector<std::unique_ptr<TestRequest>> requests_;
  Mutex mu_;
  std::unique_ptr<BatchFormer> queue_;
  std::unique_ptr<StrategySession> session_;
  std::function<void()> on_include;  // called once
  std::vector<std::string> calls_;
};

TEST_F(StrategySessionTest, AsksAboutEachRequestOnce) {
  Push("0");
  Push("1");
  EXPECT_TRUE(Ask());
  EXPECT_THAT(TakeCalls(), ElementsAre("begin", "include 0", "include 1"));
  EXPECT_FALSE(Ask()) << "the mutex was not let go of";
  Push("2");
  EXPECT_TRUE(Ask());
  EXPECT_THAT(TakeCalls(), ElementsAre("include 2"));
  EXPECT_TRUE(End());
  EXPECT_THAT(TakeCalls(), ElementsAre("end"));
  EXPECT_FALSE(End()) << "no batch has begun";
}

TEST_F(StrategySessionTest, ARefusedRequestClosesTheBatchAndBeginsTheNext) {
  Push("0");
  Push("refused");
  Push("2");
  EXPECT_TRUE(Ask());
  EXPECT_THAT(TakeCalls(), ElementsAre("begin", "include 0", "include refused"));
  queue_->PopFront().reset();
  EXPECT_TRUE(End());
  EXPECT_TRUE(Ask());
  EXPECT_THAT(TakeCalls(), ElementsAre("end", "begin", "include refused", "include 2"));
}

TEST_F(StrategySessionTest, SaysThatItAsksWhileItDoes) {
  Push("0");
  EXPECT_FALSE(asking());
  on_include = [this] { EXPECT_TRUE(asking()); };
  EXPECT_TRUE(Ask());
  EXPECT_FALSE(asking());
}

TEST_F(StrategySessionTest, WhatArrivesMeanwhileIsAskedAbout) {
  Push("0");
  on_include = [this] { Push("1"); };
  EXPECT_TRUE(Ask());
  EXPECT_THAT(TakeCalls(), ElementsAre("begin", "include 0", "include 1"));
}

TEST_F(StrategySessionTest, BeginsAnewWhenAnotherComesInFrontMeanwhile) {
  Push("0");
  on_include = [this] { Push("urgent", 1); };
  EXPECT_TRUE(Ask());
  EXPECT_THAT(TakeCalls(),
              ElementsAre("begin", "include 0", "end", "begin", "include urgent", "include 0"));
}

TEST_F(StrategySessionTest, AsksNothingOnceItIsClosed) {
  Push("0");
  Close();
  EXPECT_FALSE(Ask());
  Drop();
  EXPECT_THAT(TakeCalls(), ElementsAre("gone"));
  EXPECT_FALSE(session_->has_strategy());
}

TEST_F(StrategySessionTest, CloseWaitsForACallThatIsUnderWay) {
  Push("0");
  Push("1");
  std::thread closing;
  bool inside = false, closed = false;  // under mu_
  const auto is_inside = [&] {
    MutexLock lock(&mu_);  // succeeds although Close was called: Close waits without the mutex
    return inside;
  };
  on_include = [&] {
    closing = std::thread([&] {
      MutexLock lock(&mu_);
      inside = true;
      session_->Close(&mu_);
      EXPECT_FALSE(session_->asking());
      closed = true;
    });
    while (!is_inside()) std::this_thread::yield();
    MutexLock lock(&mu_);
    EXPECT_FALSE(closed);
  };
  EXPECT_TRUE(Ask());
  closing.join();
  EXPECT_TRUE(closed);
  EXPECT_THAT(TakeCalls(), ElementsAre("begin", "include 0")) << "and not about the other";
}

TEST_F(StrategySessionTest, ABatchThatNeverFormedIsEndedBeforeTheStrategyGoes) {
  Push("0");
  EXPECT_TRUE(Ask());
  Close();
  Drop();
  EXPECT_THAT(TakeCalls(), ElementsAre("begin", "include 0", "end", "gone"));
}

TEST_F(StrategySessionTest, WithoutAStrategyThereIsNobodyToAsk) {
  StrategySession nobody(nullptr);
  EXPECT_FALSE(nobody.has_strategy());
  MutexLock lock(&mu_);
  EXPECT_FALSE(nobody.End());
  nobody.Close(&mu_);
  const StrategySession::Remains nothing = nobody.Drop();
  EXPECT_THAT(calls_, IsEmpty());
}

}  // namespace
}  // namespace nereid
