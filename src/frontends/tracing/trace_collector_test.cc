// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/trace_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "observe/trace/inference_trace.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What an output was told, and a gate that it waits at.
class Diary {
 public:
  void Note(std::string entry) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    while (!open_) changed_.Wait(&mu_);
    entries_.push_back(std::move(entry));
    changed_.NotifyAll();
  }
  void Open(bool open) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    open_ = open;
    changed_.NotifyAll();
  }
  std::vector<std::string> Await(size_t count) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    while (entries_.size() < count) changed_.Wait(&mu_);
    return entries_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mu_) = true;
  std::vector<std::string> entries_ ABSL_GUARDED_BY(mu_);
};

class Output final : public TraceOutput {
 public:
  Output(Diary* diary, std::optional<TimePoint> due) : diary_(diary), due_(due) {}
  void Add(std::unique_ptr<FinishedTrace> trace) override {
    diary_->Note("add " + std::to_string(trace->root_id));
  }
  void Retire(std::shared_ptr<const TraceSampler>) override { diary_->Note("retire"); }
  void OnIdle() override { diary_->Note("idle"); }
  std::optional<TimePoint> due() const override { return due_; }
  void OnDue() override {
    due_.reset();
    diary_->Note("due");
  }
  void Finish() override { diary_->Note("finish"); }

 private:
  Diary* const diary_;
  std::optional<TimePoint> due_;
};

class TraceCollectorTest : public ::testing::Test {
 protected:
  void Start(size_t waiting = 10, std::optional<TimePoint> due = std::nullopt) {
    TraceCollector::Limits limits;
    limits.waiting = waiting;
    collector_ =
        std::make_unique<TraceCollector>(std::make_unique<Output>(&diary_, due), &clock_, limits);
  }
  void Submit(uint64_t id) {
    auto trace = std::make_unique<FinishedTrace>();
    trace->root_id = id;
    trace->sampler = sampler_;
    collector_->Submit(std::move(trace));
  }

  FakeClock clock_;
  Diary diary_;
  std::shared_ptr<TraceSampler> sampler_ = std::make_shared<TraceSampler>(TraceSettings());
  std::unique_ptr<TraceCollector> collector_;
};

TEST_F(TraceCollectorTest, OneThreadDoesAllInOrder) {
  diary_.Open(false);
  Start();
  Submit(1);
  Submit(2);
  collector_->Retire(sampler_);
  diary_.Open(true);
  EXPECT_THAT(diary_.Await(4), ElementsAre("add 1", "add 2", "retire", "idle"));
  EXPECT_TRUE(collector_->End(clock_.Now() + std::chrono::seconds(1)));
  EXPECT_THAT(diary_.Await(5), ElementsAre("add 1", "add 2", "retire", "idle", "finish"));
  Submit(3);
  EXPECT_EQ(collector_->dropped(), 1U);
}

TEST_F(TraceCollectorTest, WhatDoesNotFitIsDroppedAndCounted) {
  diary_.Open(false);
  Start(/*waiting=*/2);
  // The thread may have taken one of them already.
  for (uint64_t id = 1; id <= 5; ++id) Submit(id);
  const uint64_t dropped = collector_->dropped();
  EXPECT_GE(dropped, 2U);
  EXPECT_LE(dropped, 3U);
  diary_.Open(true);
  EXPECT_TRUE(collector_->End(clock_.Now() + std::chrono::seconds(1)));
}

TEST_F(TraceCollectorTest, EndGivesUpAtItsDeadline) {
  diary_.Open(false);
  Start();
  Submit(1);
  EXPECT_FALSE(collector_->End(clock_.Now()));
  diary_.Open(true);
}

TEST_F(TraceCollectorTest, OutputsAreCalledWhenTheyAreDue) {
  Start(10, clock_.Now() + std::chrono::seconds(5));
  while (clock_.TimedWaiters() == 0) std::this_thread::yield();
  clock_.Advance(std::chrono::seconds(5));
  EXPECT_THAT(diary_.Await(1), ElementsAre("due"));
}

}  // namespace
}  // namespace nereid
