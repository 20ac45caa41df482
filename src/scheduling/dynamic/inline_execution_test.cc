// SPDX-License-Identifier: Apache-2.0
// DynamicScheduler with I/O threads that execute: the test's own thread is the I/O thread.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "scheduling/testing/recorded.h"
#include "scheduling/testing/scheduler_fixture.h"

namespace nereid {
namespace {

constexpr Duration kLimit = std::chrono::microseconds(100);

// An instance with a thread of its own. Each execution is reported to take `takes`.
class FakeInstance final : public BatchExecutor {
 public:
  explicit FakeInstance(DynamicScheduler* scheduler)
      : scheduler_(scheduler), thread_([this] { Run(); }) {}
  ~FakeInstance() override { thread_.join(); }

  Duration Execute(Batch batch) override {
    std::vector<std::string> ids;
    for (const RequestPtr& request : batch) ids.push_back(request->id());
    const bool by_io_thread = std::this_thread::get_id() != thread_.get_id();
    if (by_io_thread) inline_batches.push_back(ids);
    FinishBatch(std::move(batch));
    if (by_io_thread && during_inline) during_inline();
    if (!by_io_thread) ++own_runs;
    return takes;
  }

  bool lendable() const override { return may_be_lent; }

  std::atomic<bool> may_be_lent{true};
  std::atomic<int> own_runs{0};
  // Batches that the test's thread has executed, and what it does during the next one.
  std::vector<std::vector<std::string>> inline_batches;
  std::function<void()> during_inline;
  std::atomic<Duration> takes{std::chrono::microseconds(10)};

 private:
  void Run() {
    Batch batch = scheduler_->Pull(this, std::nullopt);
    while (!batch.empty()) {
      const Duration took = Execute(std::move(batch));
      batch = scheduler_->Pull(this, took);
    }
  }

  DynamicScheduler* const scheduler_;
  std::thread thread_;
};

class InlineExecutionTest : public SchedulerFixture {
 protected:
  void TearDown() override {
    turn_.End();
    scheduler_->Shutdown();
    instance_.reset();
    SchedulerFixture::TearDown();
  }

  // Starts a model with one instance that executes `runs` times.
  void Start(const ModelBuilder& builder, int runs = 100) {
    Use(builder, nullptr, kLimit);
    instance_ = std::make_unique<FakeInstance>(scheduler_.get());
    for (int i = 0; i < runs; ++i) {
      Enqueue();
      AwaitIdle();
    }
    first_ = requests_.size();
  }
  void AwaitIdle() {
    while (scheduler_->idle_instances() == 0) std::this_thread::yield();
  }
  TestRequest& EnqueueFromLoop() { return Enqueue(1, 1, &turn_); }
  // Id of the `index`-th request after the measured ones.
  std::string Id(size_t index) const { return std::to_string(first_ + index); }

  using Batches = std::vector<std::vector<std::string>>;
  InlineTurn turn_;
  std::unique_ptr<FakeInstance> instance_;
  size_t first_ = 0;
};

ModelBuilder Batching() {
  ModelBuilder builder("m");
  builder.MaxBatch(8).Input("in", DataType::kInt8, {-1}).Batching();
  return builder;
}

TEST_F(InlineExecutionTest, AShortModelRunsBeforeEnqueueReturns) {
  Start(Model(0));
  EnqueueFromLoop();
  EXPECT_EQ(instance_->inline_batches, Batches({{Id(0)}}));
  EXPECT_EQ(scheduler_->inline_executions(), 1u);
  EXPECT_EQ(instance_->own_runs, 100);
  EXPECT_FALSE(turn_.HasDeferred());
}

TEST_F(InlineExecutionTest, NotBeforeAHundredRunsAreMeasured) {
  Start(Model(0), 98);  // the last of them is measured when the instance pulls again
  EnqueueFromLoop();
  AwaitIdle();
  EXPECT_TRUE(instance_->inline_batches.empty());
  EXPECT_EQ(instance_->own_runs, 99);
}

TEST_F(InlineExecutionTest, NotWithoutATurn) {
  Start(Model(0));
  Enqueue();
  AwaitIdle();
  EXPECT_TRUE(instance_->inline_batches.empty());
}

// Neither that request, which may have to be copied, nor a later one, because with it the I/O
// thread could get the first out of the queue.
TEST_F(InlineExecutionTest, NotOnceARequestTouchesAGpu) {
  Start(Model(0));
  TestRequest& on_gpu = NewRequest();
  on_gpu.AnswerOnGpu();
  RequestPtr owned = on_gpu.Issue();
  EXPECT_TRUE(owned->touches_gpus());
  owned->set_inline_turn(&turn_);
  ASSERT_TRUE(scheduler_->Enqueue(&owned).ok());
  on_gpu.WaitDone();
  AwaitIdle();
  EnqueueFromLoop().WaitDone();
  AwaitIdle();
  EXPECT_EQ(instance_->own_runs, 102);
  EXPECT_EQ(scheduler_->inline_executions(), 0u);
}

TEST_F(InlineExecutionTest, ALoanEndsWhenARequestTouchesAGpu) {
  Start(Batching());
  TestRequest& before = EnqueueFromLoop();
  ASSERT_TRUE(turn_.HasDeferred());
  TestRequest& on_gpu = NewRequest();
  on_gpu.AnswerOnGpu();
  RequestPtr owned = on_gpu.Issue();
  ASSERT_TRUE(scheduler_->Enqueue(&owned).ok());
  turn_.End();
  before.WaitDone();
  on_gpu.WaitDone();
  EXPECT_EQ(scheduler_->inline_executions(), 0u);
}

TEST_F(InlineExecutionTest, RequestsOfATurnRunTogetherAtItsEnd) {
  Start(Batching());
  for (int i = 0; i < 3; ++i) EnqueueFromLoop();
  EXPECT_TRUE(turn_.HasDeferred());
  EXPECT_TRUE(instance_->inline_batches.empty());
  turn_.End();
  EXPECT_EQ(instance_->inline_batches, Batches({{Id(0), Id(1), Id(2)}}));
}

TEST_F(InlineExecutionTest, ATurnRunsSeveralBatches) {
  Start(Batching());
  for (int i = 0; i < 10; ++i) EnqueueFromLoop();
  turn_.End();
  ASSERT_EQ(instance_->inline_batches.size(), 2u);
  EXPECT_EQ(instance_->inline_batches[0].size(), 8u);
  EXPECT_EQ(instance_->inline_batches[1].size(), 2u);
}

TEST_F(InlineExecutionTest, AnInstanceThatMayNoLongerBeLentExecutesItself) {
  Start(Batching());
  EnqueueFromLoop();
  ASSERT_TRUE(turn_.HasDeferred());
  instance_->may_be_lent = false;
  turn_.End();
  while (instance_->own_runs < 101) std::this_thread::yield();
  AwaitIdle();
  EnqueueFromLoop();
  EXPECT_FALSE(turn_.HasDeferred());
  while (instance_->own_runs < 102) std::this_thread::yield();
  EXPECT_TRUE(instance_->inline_batches.empty());
}

// What the recorder says of them: a batch that fills up is full for this thread, too, and what is
// left runs because the turn ends.
TEST_F(InlineExecutionTest, ATurnsEndIsRecordedAsTheReason) {
  Start(Batching());
  instance_->during_inline = [this] { clock_.Advance(std::chrono::microseconds(7)); };
  EnqueueFromLoop();
  clock_.Advance(std::chrono::microseconds(30));
  for (int i = 0; i < 9; ++i) EnqueueFromLoop();
  clock_.Advance(std::chrono::microseconds(20));
  turn_.End();
  const std::vector<std::string> batches = RecordedBatches(*model_);
  ASSERT_GE(batches.size(), 2u);
  EXPECT_EQ(batches[batches.size() - 2], "full:8");
  EXPECT_EQ(batches.back(), "end_of_turn:2");
  EXPECT_TRUE(model_->recorder().Batches(0, 1).at(0).by_caller);
  EXPECT_EQ(RecordedMicros(*model_, Id(0), Phase::kQueue), 50);
  EXPECT_EQ(RecordedMicros(*model_, Id(9), Phase::kQueue), 27);
}

TEST_F(InlineExecutionTest, AnOverrunStopsItForASecond) {
  Start(Model(0));
  instance_->takes = std::chrono::microseconds(1001);
  EnqueueFromLoop();
  instance_->takes = std::chrono::microseconds(10);
  turn_.End();
  EXPECT_EQ(instance_->inline_batches.size(), 1u);
  EnqueueFromLoop();
  AwaitIdle();
  EXPECT_EQ(instance_->inline_batches.size(), 1u);
  clock_.Advance(std::chrono::seconds(1));
  EnqueueFromLoop();
  EXPECT_EQ(instance_->inline_batches.size(), 2u);
}

TEST_F(InlineExecutionTest, TheInstanceTakesOverWhenTheTurnHasHadItsTime) {
  Start(Model(0));
  instance_->takes = kLimit;
  for (int i = 0; i < 12; ++i) {
    EnqueueFromLoop();
    AwaitIdle();
  }
  EXPECT_EQ(instance_->inline_batches.size(), 10u);  // 10 times 100 us: a turn has one millisecond
  EXPECT_EQ(instance_->own_runs, 102);
  turn_.End();
  EnqueueFromLoop();
  EXPECT_EQ(instance_->inline_batches.size(), 11u);
}

TEST_F(InlineExecutionTest, WhatArrivesMeanwhileIsRunToo) {
  Start(Model(0));
  instance_->during_inline = [this] {
    instance_->during_inline = nullptr;
    Enqueue();  // not from the loop: no instance is idle
  };
  EnqueueFromLoop();
  EXPECT_EQ(instance_->inline_batches, Batches({{Id(0)}, {Id(1)}}));
}

TEST_F(InlineExecutionTest, AModelWithAQueueDelayIsLeftToItsInstance) {
  ModelBuilder delayed = Batching();
  Use(delayed.Batching({}, kDelay), nullptr, kLimit);
  instance_ = std::make_unique<FakeInstance>(scheduler_.get());
  for (int i = 0; i < 100; ++i) {
    for (int j = 0; j < 8; ++j) Enqueue();
    AwaitIdle();
  }
  EnqueueFromLoop();
  EXPECT_FALSE(turn_.HasDeferred());
  AwaitLeader();
  EXPECT_TRUE(instance_->inline_batches.empty());
}

TEST_F(InlineExecutionTest, ShutdownWaitsForNoTurnThatEnds) {
  Start(Batching());
  EnqueueFromLoop();
  scheduler_->Shutdown();  // answers the queued requests
  turn_.End();             // gives the instance back, so that its thread can end
  EXPECT_TRUE(instance_->inline_batches.empty());
}

}  // namespace
}  // namespace nereid
