// SPDX-License-Identifier: Apache-2.0
#include "base/spare_executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "base/testing/door.h"
#include "base/threads/thread.h"

namespace nereid {
namespace {

class SpareExecutorTest : public ::testing::Test {
 protected:
  SpareExecutorOptions Options(int threads, int most_threads, size_t queue_limit = 16) {
    return {"spare test", threads, most_threads, queue_limit, std::chrono::seconds(1), &clock_};
  }
  // Lets the executor's patience run out, once the executor waits for that.
  void ComeLate() {
    while (clock_.TimedWaiters() == 0) std::this_thread::yield();
    clock_.Advance(std::chrono::seconds(1));
  }

  FakeClock clock_;
  Door door_;
};

TEST_F(SpareExecutorTest, RunsEverythingBeforeItEnds) {
  std::atomic<int> ran{0};
  {
    SpareExecutor executor(Options(2, 2, 1000));
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(executor.TryRun([&] { ++ran; }));
  }
  EXPECT_EQ(ran.load(), 100);
}

TEST_F(SpareExecutorTest, ThreadsMakeWayWhereTheyAreToldTo) {
  SchedAttributes mine;
  ASSERT_TRUE(GetSchedAttributes(&mine));
  if (mine.policy != SchedAttributes::kNormalPolicy || mine.nice < 0) {
    GTEST_SKIP() << "the tests run with a priority of their own";
  }
  for (const bool background : {false, true}) {
    SpareExecutorOptions options = Options(1, 1);
    options.background = background;
    SchedAttributes attributes;
    {
      SpareExecutor executor(options);
      ASSERT_TRUE(executor.TryRun([&] { GetSchedAttributes(&attributes); }));
    }
    EXPECT_EQ((attributes.flags & SchedAttributes::kResetOnFork) != 0, background);
  }
}

TEST_F(SpareExecutorTest, RefusesWhatItsQueueCannotHold) {
  SpareExecutor executor(Options(1, 1, 2));
  ASSERT_TRUE(executor.TryRun([&] { door_.Pass(); }));
  door_.AwaitWaiting(1);
  EXPECT_TRUE(executor.TryRun([] {}));
  EXPECT_TRUE(executor.TryRun([] {}));
  EXPECT_FALSE(executor.TryRun([] {}));
  door_.Open();
}

// A job whose part can be moved, but not copied.
struct Owner {
  std::unique_ptr<int> part;
  int* ran;
  void operator()() { *ran += *part; }
};

TEST_F(SpareExecutorTest, ARefusedJobStaysWithItsCaller) {
  int ran = 0;
  {
    SpareExecutor executor(Options(1, 1, 1));
    ASSERT_TRUE(executor.TryRun([&] { door_.Pass(); }));
    door_.AwaitWaiting(1);
    Owner taken{std::make_unique<int>(5), &ran};
    EXPECT_TRUE(executor.TryRun(std::move(taken)));
    EXPECT_EQ(taken.part, nullptr);
    Owner refused{std::make_unique<int>(7), &ran};
    EXPECT_FALSE(executor.TryRun(std::move(refused)));
    ASSERT_NE(refused.part, nullptr);
    EXPECT_EQ(*refused.part, 7);
    door_.Open();
  }
  EXPECT_EQ(ran, 5);
}

TEST_F(SpareExecutorTest, JobsThatHangGiveTheirPlacesAway) {
  Door others;  // outlives the threads that pass it
  SpareExecutor executor(Options(1, 3));
  for (int i = 1; i <= 2; ++i) {
    ASSERT_TRUE(executor.TryRun([&] { door_.Pass(); }));
    if (i == 2) ComeLate();
    door_.AwaitWaiting(i);
  }
  ASSERT_TRUE(executor.TryRun([&] { others.Pass(); }));
  ComeLate();
  others.AwaitWaiting(1);
  others.Open();
  door_.Open();
}

TEST_F(SpareExecutorTest, ThereAreOnlySoManyThreads) {
  SpareExecutor executor(Options(1, 2));
  ASSERT_TRUE(executor.TryRun([&] { door_.Pass(); }));
  door_.AwaitWaiting(1);
  ASSERT_TRUE(executor.TryRun([&] { door_.Pass(); }));
  ComeLate();
  door_.AwaitWaiting(2);
  std::atomic<bool> ran{false};
  ASSERT_TRUE(executor.TryRun([&] { ran = true; }));
  clock_.Advance(std::chrono::seconds(10));
  EXPECT_EQ(clock_.TimedWaiters(), 0u) << "it waits for one of them to return";
  EXPECT_FALSE(ran.load());
  door_.Open();
  EXPECT_TRUE(executor.End(TimePoint::max()));
  EXPECT_TRUE(ran.load());
}

TEST_F(SpareExecutorTest, ItsEndDoesNotWaitForAJobThatHangs) {
  SpareExecutor executor(Options(1, 1));
  const auto held = std::make_shared<int>(0);
  ASSERT_TRUE(executor.TryRun([&] { door_.Pass(); }));
  door_.AwaitWaiting(1);
  ASSERT_TRUE(executor.TryRun([held] {}));
  EXPECT_FALSE(executor.End(clock_.Now()));
  EXPECT_EQ(held.use_count(), 1) << "what waits is destroyed";
  EXPECT_FALSE(executor.TryRun([] {}));
  door_.Open();
  EXPECT_TRUE(executor.End(TimePoint::max()));
}

TEST_F(SpareExecutorTest, ItsEndWaitsUntilTheDeadline) {
  SpareExecutor executor(Options(1, 1));
  ASSERT_TRUE(executor.TryRun([&] { door_.Pass(); }));
  door_.AwaitWaiting(1);
  std::thread opener([&] {
    while (clock_.TimedWaiters() == 0) std::this_thread::yield();
    door_.Open();
  });
  EXPECT_TRUE(executor.End(clock_.Now() + std::chrono::seconds(1)));
  opener.join();
}

}  // namespace
}  // namespace nereid
