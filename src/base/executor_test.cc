// SPDX-License-Identifier: Apache-2.0
#include "base/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>

#include "base/testing/door.h"

namespace nereid {
namespace {

TEST(ExecutorTest, RefusesWhatItsQueueCannotHold) {
  Door door;
  std::atomic<int> ran{0};
  {
    Executor executor("test", /*threads=*/2, /*queue_limit=*/2);
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(executor.TryRun([&] { door.Pass(); }));
      door.AwaitWaiting(i + 1);  // the job has left the queue
    }
    EXPECT_TRUE(executor.TryRun([&] { ++ran; }));
    EXPECT_TRUE(executor.TryRun([&] { ++ran; }));
    EXPECT_FALSE(executor.TryRun([&] { ran += 100; }));
    EXPECT_EQ(ran.load(), 0);
    door.Open();
  }
  EXPECT_EQ(ran.load(), 2) << "what was queued runs before the end";
}

TEST(ExecutorTest, RunsEveryJobOnceAndOnItsThreads) {
  std::atomic<int> ran{0};
  Mutex mu;
  std::set<std::thread::id> threads;
  {
    Executor executor("test", 3, 10'000);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(executor.TryRun([&] {
        ++ran;
        MutexLock lock(&mu);
        threads.insert(std::this_thread::get_id());
      }));
    }
  }
  EXPECT_EQ(ran.load(), 1000);
  EXPECT_LE(threads.size(), 3u);
  EXPECT_EQ(threads.count(std::this_thread::get_id()), 0u);
}

}  // namespace
}  // namespace nereid
