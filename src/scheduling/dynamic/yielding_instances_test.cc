// SPDX-License-Identifier: Apache-2.0
// DynamicScheduler with instances that leave their work to others for a while.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "scheduling/testing/scheduler_fixture.h"

namespace nereid {
namespace {

// An instance with a thread of its own. Executes one batch each time it is let go.
class YieldingInstance final : public BatchExecutor {
 public:
  explicit YieldingInstance(DynamicScheduler* scheduler, bool yields)
      : may_yield(yields), scheduler_(scheduler), thread_([this] { Run(); }) {}
  ~YieldingInstance() override { thread_.join(); }

  Duration Execute(Batch batch) override {
    const size_t size = batch.size();
    entered += size;
    while (held.load()) std::this_thread::yield();
    FinishBatch(std::move(batch));
    return std::chrono::microseconds(10);
  }
  bool yields() const override { return may_yield; }

  std::atomic<bool> may_yield;
  std::atomic<bool> held{false};
  std::atomic<size_t> entered{0};  // requests

 private:
  void Run() {
    for (Batch batch = scheduler_->Pull(this, std::nullopt); !batch.empty();
         batch = scheduler_->Pull(this, std::nullopt)) {
      Execute(std::move(batch));
    }
  }

  DynamicScheduler* const scheduler_;
  std::thread thread_;
};

class YieldingInstancesTest : public SchedulerFixture {
 protected:
  void TearDown() override {
    scheduler_->Shutdown();
    instances_.clear();
    SchedulerFixture::TearDown();
  }
  // Adds an instance, and waits until it waits.
  YieldingInstance& Add(bool yields) {
    const size_t idle = scheduler_->idle_instances();
    instances_.push_back(std::make_unique<YieldingInstance>(scheduler_.get(), yields));
    AwaitIdle(idle + 1);
    return *instances_.back();
  }
  void AwaitIdle(size_t count) {
    while (scheduler_->idle_instances() < count) std::this_thread::yield();
  }

  std::vector<std::unique_ptr<YieldingInstance>> instances_;
};

TEST_F(YieldingInstancesTest, AnotherGetsAllRequests) {
  Use(Model(0));
  YieldingInstance& able = Add(false);
  YieldingInstance& broken = Add(true);  // came last, so it would be woken first
  for (int i = 0; i < 20; ++i) Enqueue().WaitDone();
  EXPECT_EQ(able.entered, 20u);
  EXPECT_EQ(broken.entered, 0u);
}

TEST_F(YieldingInstancesTest, RequestsWaitForABusyOne) {
  Use(Model(0));
  YieldingInstance& able = Add(false);
  YieldingInstance& broken = Add(true);
  able.held = true;
  TestRequest& first = Enqueue();
  while (able.entered == 0) std::this_thread::yield();
  TestRequest& second = Enqueue();
  AwaitIdle(1);
  able.held = false;
  first.WaitDone();
  second.WaitDone();
  EXPECT_EQ(able.entered, 2u);
  EXPECT_EQ(broken.entered, 0u);
}

TEST_F(YieldingInstancesTest, OneThatYieldsNoMoreLooksAtTheQueue) {
  Use(Model(0));
  YieldingInstance& able = Add(false);
  YieldingInstance& broken = Add(true);
  able.held = true;
  TestRequest& first = Enqueue();
  while (able.entered == 0) std::this_thread::yield();
  TestRequest& second = Enqueue();
  broken.may_yield = false;
  scheduler_->Nudge();
  second.WaitDone();
  EXPECT_EQ(broken.entered, 1u);
  able.held = false;
  first.WaitDone();
}

TEST_F(YieldingInstancesTest, OneThatWaitsForABatchHandsItsWaitOn) {
  Use(Model().Batching({}, kDelay));
  YieldingInstance& first = Add(false);
  TestRequest& request = Enqueue();
  AwaitLeader();
  YieldingInstance& second = Add(false);
  first.may_yield = true;
  scheduler_->Nudge();
  AwaitIdle(2);
  AwaitLeader();
  clock_.Advance(kDelay);
  request.WaitDone();
  EXPECT_EQ(first.entered, 0u);
  EXPECT_EQ(second.entered, 1u);
}

TEST_F(YieldingInstancesTest, EndsWithTheScheduler) {
  Use(Model(0));
  Add(true);
  Add(true);
  TestRequest& left = Enqueue();
  scheduler_->Shutdown();
  left.WaitDone();
  EXPECT_EQ(left.final_status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace nereid
