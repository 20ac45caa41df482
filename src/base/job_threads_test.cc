// SPDX-License-Identifier: Apache-2.0
#include "base/job_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>

#include "base/testing/door.h"

namespace nereid {
namespace {

TEST(JobThreadsTest, RunsEveryJobAndWaitsForIt) {
  std::atomic<int> ran{0};
  {
    JobThreads threads("test", 1000);
    for (int i = 0; i < 100; ++i) {
      std::function<void()> job = [&] { ++ran; };
      ASSERT_TRUE(threads.TryRun(&job));
      EXPECT_EQ(job, nullptr) << "it is taken";
    }
  }
  EXPECT_EQ(ran.load(), 100);
}

TEST(JobThreadsTest, AJobThatHangsHoldsUpNoOther) {
  Door door;
  Door other;
  JobThreads threads("test", 2);
  std::function<void()> hangs = [&] { door.Pass(); };
  ASSERT_TRUE(threads.TryRun(&hangs));
  door.AwaitWaiting(1);
  std::function<void()> runs = [&] { other.Pass(); };
  ASSERT_TRUE(threads.TryRun(&runs));
  other.AwaitWaiting(1);
  other.Open();
  door.Open();
}

TEST(JobThreadsTest, BeyondTheLimitTheJobStaysWithTheCaller) {
  Door door;
  bool ran = false;
  {
    JobThreads threads("test", 1);
    std::function<void()> holds = [&] { door.Pass(); };
    ASSERT_TRUE(threads.TryRun(&holds));
    std::function<void()> refused = [&] { ran = true; };
    EXPECT_FALSE(threads.TryRun(&refused));
    ASSERT_NE(refused, nullptr);
    refused();
    EXPECT_TRUE(ran);
    door.Open();
  }
}

TEST(JobThreadsTest, WhatAJobHoldsGoesBeforeTheDestructorReturns) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  {
    JobThreads threads("test", 1);
    std::function<void()> job = [held = std::move(held)] {};
    ASSERT_TRUE(threads.TryRun(&job));
  }
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace nereid
