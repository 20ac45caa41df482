// SPDX-License-Identifier: Apache-2.0
#include "execution/rate_limited_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "scheduling/testing/recorded.h"
#include "scheduling/testing/scheduler_fixture.h"

namespace nereid {
namespace {

InstanceSpec Needs(std::vector<ResourceNeed> resources) {
  InstanceSpec spec;
  spec.resources = std::move(resources);
  return spec;
}

class RateLimitedSourceTest : public SchedulerFixture {
 protected:
  void TearDown() override {
    scheduler_->Shutdown();
    for (const auto& source : sources_) source->Close();
    pullers_.clear();
    sources_.clear();
    SchedulerFixture::TearDown();
  }

  RateLimitedSource* Source(std::vector<ResourceNeed> resources) {
    sources_.push_back(std::make_unique<RateLimitedSource>(
        scheduler_.get(), *limiter_.Register(Needs(std::move(resources))), &clock_));
    return sources_.back().get();
  }
  // Starts an instance that needs `resources`, and returns once the instance waits for work.
  Puller& Instance(std::vector<ResourceNeed> resources) {
    const size_t idle = scheduler_->idle_instances();
    pullers_.push_back(std::make_unique<Puller>(Source(std::move(resources)), &clock_, 1));
    while (scheduler_->idle_instances() == idle) std::this_thread::yield();
    return *pullers_.back();
  }
  // Returns once no instance waits for work: then all instances wait for resources.
  void AwaitStaged() {
    while (scheduler_->idle_instances() > 0) std::this_thread::yield();
  }

  RateLimiter limiter_{{}};
  std::vector<std::unique_ptr<RateLimitedSource>> sources_;
  std::vector<std::unique_ptr<Puller>> pullers_;
};

TEST_F(RateLimitedSourceTest, AnIdleInstanceHoldsNothing) {
  Use(Model().Batching());
  Puller& instance = Instance({{"R", false, 1}});
  const auto other = *limiter_.Register(Needs({{"R", false, 1}}));
  EXPECT_TRUE(other->Stage());
  other->Release(true);
  Enqueue().WaitDone();
  EXPECT_EQ(instance.Next().requests.size(), 1u);
}

TEST_F(RateLimitedSourceTest, ABatchGrowsWhileItsInstanceWaits) {
  Use(Model().Batching());
  const auto other = *limiter_.Register(Needs({{"R", false, 1}}));
  ASSERT_TRUE(other->Stage());
  Puller& instance = Instance({{"R", false, 1}});
  Enqueue();
  AwaitStaged();
  Enqueue();
  TestRequest& last = Enqueue();
  EXPECT_EQ(instance.unseen(), 0u);
  other->Release(true);
  EXPECT_EQ(instance.Next().requests.size(), 3u);
  last.WaitDone();
}

TEST_F(RateLimitedSourceTest, TheWaitForResourcesIsToldFromTheQueue) {
  Use(Model().Batching({}, std::chrono::microseconds(50)));
  const auto other = *limiter_.Register(Needs({{"R", false, 1}}));
  ASSERT_TRUE(other->Stage());
  // The second one sees the batch, and is idle no more, when the first has looked at the clock.
  Instance({{"R", false, 1}});
  Instance({{"R", false, 1}});
  TestRequest& request = Enqueue();
  AwaitLeader();
  clock_.Advance(std::chrono::microseconds(50));
  AwaitStaged();
  clock_.Advance(std::chrono::microseconds(300));
  other->Release(true);
  request.WaitDone();
  while (model_->recorder().Batches(0, 1).empty()) std::this_thread::yield();
  EXPECT_EQ(RecordedMicros(*model_, "0", Phase::kQueue), 50);
  EXPECT_EQ(RecordedMicros(*model_, "0", Phase::kRateLimit), 300);
  EXPECT_THAT(RecordedBatches(*model_), ::testing::ElementsAre("delay_over:1"));
}

TEST_F(RateLimitedSourceTest, WhatIsCancelledMeanwhileLeavesTheGrantUnused) {
  Use(Model().Batching());
  const auto other = *limiter_.Register(Needs({{"R", false, 1}}));
  ASSERT_TRUE(other->Stage());
  Puller& instance = Instance({{"R", false, 1}});
  TestRequest& cancelled = Enqueue();
  AwaitStaged();
  ASSERT_TRUE(cancelled->Cancel().ok());
  cancelled.WaitDone();
  EXPECT_EQ(cancelled.final_status().code(), absl::StatusCode::kCancelled);
  other->Release(true);
  while (scheduler_->idle_instances() == 0) std::this_thread::yield();
  EXPECT_TRUE(other->Stage()) << "it was given back";
  other->Release(true);
  Enqueue().WaitDone();
  EXPECT_EQ(instance.Next().requests.size(), 1u);
}

TEST_F(RateLimitedSourceTest, AnInstanceThatNeedsNothingTakesWhatAnotherWaitsWith) {
  Use(Model().Batching());
  const auto other = *limiter_.Register(Needs({{"R", false, 1}}));
  ASSERT_TRUE(other->Stage());
  Puller& free = Instance({});
  Instance({{"R", false, 1}});  // woken first, because it came last
  Enqueue().WaitDone();
  EXPECT_EQ(free.Next().requests.size(), 1u);
}

TEST_F(RateLimitedSourceTest, AnInstanceThatWaitsForResourcesStopsWithItsModel) {
  Use(Model().Batching());
  const auto other = *limiter_.Register(Needs({{"R", false, 1}}));
  ASSERT_TRUE(other->Stage());
  Puller& instance = Instance({{"R", false, 1}});
  TestRequest& left = Enqueue();
  AwaitStaged();
  scheduler_->Shutdown();
  EXPECT_EQ(left.final_status().code(), absl::StatusCode::kUnavailable);
  sources_[0]->Close();
  instance.WaitStopped();
}

// An instance that leaves its work to others while `broken`.
class Yielding final : public BatchExecutor {
 public:
  Duration Execute(Batch) override { return Duration(0); }
  bool yields() const override { return broken; }

  std::atomic<bool> broken{true};
};

TEST_F(RateLimitedSourceTest, AnInstanceThatYieldsHoldsNothingAndTakesNothing) {
  Use(Model());
  Yielding self;
  RateLimitedSource* const source = Source({{"R", false, 1}});
  std::thread pulls([&] {
    for (Batch batch = source->Pull(&self, std::nullopt); !batch.empty();
         batch = source->Pull(&self, std::nullopt)) {
      FinishBatch(std::move(batch));
    }
  });
  while (scheduler_->idle_instances() == 0) std::this_thread::yield();
  TestRequest& request = Enqueue();
  const auto other = *limiter_.Register(Needs({{"R", false, 1}}));
  EXPECT_TRUE(other->Stage());
  other->Release(false);
  EXPECT_EQ(scheduler_->idle_instances(), 1u);
  self.broken = false;
  scheduler_->Nudge();
  request.WaitDone();
  scheduler_->Shutdown();
  source->Close();
  pulls.join();
}

// A model for which `batches` batches of one request each are due from the start.
class BusyModel final : public StagedSource {
 public:
  BusyModel(int batches, Clock* clock)
      : left_(batches), model_(FakeModel::Make(ModelBuilder("busy"), clock)) {}

  bool AwaitDue(BatchExecutor*) override { return left_ > 0; }
  bool HasDue() override { return left_ > 0; }
  std::optional<Batch> TryPull() override {
    --left_;
    requests_.push_back(std::make_unique<TestRequest>(model_));
    Batch batch;
    batch.push_back(requests_.back()->Issue());
    return batch;
  }
  void PassOn() override { waits_.store(true); }

  // Returns once the model's instance waits for resources.
  void AwaitStaged() const {
    while (!waits_.load()) std::this_thread::yield();
  }

 private:
  int left_;
  const std::shared_ptr<FakeModel> model_;
  std::deque<std::unique_ptr<TestRequest>> requests_;
  std::atomic<bool> waits_{false};
};

// What is due belongs to one instance, as the requests of its sequences do. Gives up soon if that
// instance does not take it.
class OwnWork final : public StagedSource {
 public:
  explicit OwnWork(Clock* clock) : model_(1, clock) {}

  bool AwaitDue(BatchExecutor* self) override { return ++asked_ < 3 && model_.AwaitDue(self); }
  bool HasDue() override { return model_.HasDue(); }
  std::optional<Batch> TryPull() override { return model_.TryPull(); }
  void PassOn() override {}
  bool shared() const override { return false; }

 private:
  BusyModel model_;
  int asked_ = 0;
};

TEST(RateLimitedTurnsTest, WhatNoOtherCanTakeIsTakenByOneThatYields) {
  FakeClock clock;
  RateLimiter limiter({});
  OwnWork work(&clock);
  RateLimitedSource source(&work, *limiter.Register(Needs({{"R", false, 1}})), &clock);
  Yielding self;
  Batch batch = source.Pull(&self, std::nullopt);
  EXPECT_EQ(batch.size(), 1u);
  FinishBatch(std::move(batch));
  EXPECT_TRUE(source.Pull(&self, std::nullopt).empty());
}

// The order of the executions of two busy models that share a resource: 'a' has priority 1, and 'b'
// has priority `priority`.
std::string OrderOfTwo(uint32_t priority, int batches) {
  FakeClock clock;
  RateLimiter limiter({});
  auto gate = *limiter.Register(Needs({{"R", false, 1}}));
  EXPECT_TRUE(gate->Stage());
  InstanceSpec less = Needs({{"R", false, 1}});
  less.rate_priority = priority;
  BusyModel models[] = {BusyModel(batches, &clock), BusyModel(batches, &clock)};
  RateLimitedSource sources[] = {{&models[0], *limiter.Register(Needs({{"R", false, 1}})), &clock},
                                 {&models[1], *limiter.Register(less), &clock}};
  std::string order;  // written only by the thread that holds the resource
  std::vector<std::thread> threads;
  for (const char name : {'a', 'b'}) {
    threads.emplace_back([&order, name, source = &sources[name - 'a']] {
      for (Batch batch = source->Pull(nullptr, std::nullopt); !batch.empty();
           batch = source->Pull(nullptr, std::nullopt)) {
        order += name;
        FinishBatch(std::move(batch));
      }
    });
  }
  for (const BusyModel& model : models) model.AwaitStaged();
  gate->Release(/*used=*/true);
  for (std::thread& thread : threads) thread.join();
  return order;
}

TEST(RateLimitedTurnsTest, APriorityOfTwoGetsHalfTheExecutionsOfOne) {
  const std::string order = OrderOfTwo(/*priority=*/2, /*batches=*/40);
  const std::string both = order.substr(0, 45);
  EXPECT_NEAR(std::count(both.begin(), both.end(), 'a'), 30, 1) << order;
}

TEST(RateLimitedTurnsTest, EqualsTakeTurns) {
  const std::string order = OrderOfTwo(/*priority=*/1, /*batches=*/20);
  EXPECT_EQ(order.find("aaa"), std::string::npos) << order;
  EXPECT_EQ(order.find("bbb"), std::string::npos) << order;
}

TEST_F(RateLimitedSourceTest, UnderLoadNothingIsLostAndNoMoreRunThanMay) {
  Use(Model(/*max_batch=*/4).Batching({2, 4}, std::chrono::microseconds(10)));
  constexpr int kInstances = 4;
  std::atomic<int> running{0};
  std::atomic<bool> too_many{false};
  for (int i = 0; i < kInstances; ++i) Source({{"R", false, 1}});
  const auto half = *limiter_.Register(Needs({{"R", false, 2}}));  // two run at a time
  std::vector<std::thread> threads;
  for (const auto& source : sources_) {
    threads.emplace_back([&, source = source.get()] {
      for (Batch batch = source->Pull(nullptr, std::nullopt); !batch.empty();
           batch = source->Pull(nullptr, std::nullopt)) {
        if (running.fetch_add(1) >= 2) too_many = true;
        FinishBatch(std::move(batch));
        running.fetch_sub(1);
      }
    });
  }
  for (int i = 0; i < 4000; ++i) {
    TestRequest& request = Enqueue(1 + i % 3);
    if (i % 7 == 0) {
      EXPECT_TRUE(request->Cancel().ok());
    }
    if (i % 50 == 0) clock_.Advance(std::chrono::microseconds(10));
  }
  std::thread time([&] {
    while (requests_.back()->releases() == 0) clock_.Advance(std::chrono::microseconds(10));
  });
  for (const auto& request : requests_) request->WaitDone();
  time.join();
  scheduler_->Shutdown();
  for (const auto& source : sources_) source->Close();
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(too_many.load());
  for (const auto& request : requests_) {
    EXPECT_EQ(request->releases(), 1);
    EXPECT_TRUE(request->final_status().ok() ||
                request->final_status().code() == absl::StatusCode::kCancelled);
  }
}

}  // namespace
}  // namespace nereid
