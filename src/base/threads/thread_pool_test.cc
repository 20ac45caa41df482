// SPDX-License-Identifier: Apache-2.0
#include "base/threads/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "base/testing/door.h"
#include "base/threads/thread.h"

namespace nereid {
namespace {

class ThreadPoolTest : public ::testing::Test {
 protected:
  ThreadPoolOptions Options(int threads, int most_threads, size_t queue_limit = 16) {
    return {"pool test", threads, most_threads, queue_limit, std::chrono::seconds(1), &clock_};
  }
  // Lets the pool's patience run out, once the pool waits for that.
  void ComeLate() {
    while (clock_.TimedWaiters() == 0) std::this_thread::yield();
    clock_.Advance(std::chrono::seconds(1));
  }

  FakeClock clock_;
  Door door_;
};

TEST_F(ThreadPoolTest, RunsEverythingBeforeItEnds) {
  std::atomic<int> ran{0};
  {
    ThreadPool pool(Options(2, 2, 1000));
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(pool.TryRun([&] { ++ran; }));
  }
  EXPECT_EQ(ran.load(), 100);
}

TEST_F(ThreadPoolTest, ThreadsMakeWayWhereTheyAreToldTo) {
  SchedAttributes mine;
  ASSERT_TRUE(GetSchedAttributes(&mine));
  if (mine.policy != SchedAttributes::kNormalPolicy || mine.nice < 0) {
    GTEST_SKIP() << "the tests run with a priority of their own";
  }
  for (const bool background : {false, true}) {
    ThreadPoolOptions options = Options(1, 1);
    options.background = background;
    SchedAttributes attributes;
    {
      ThreadPool pool(options);
      ASSERT_TRUE(pool.TryRun([&] { GetSchedAttributes(&attributes); }));
    }
    EXPECT_EQ((attributes.flags & SchedAttributes::kResetOnFork) != 0, background);
  }
}

TEST_F(ThreadPoolTest, RefusesWhatItsQueueCannotHold) {
  ThreadPool pool(Options(1, 1, 2));
  ASSERT_TRUE(pool.TryRun([&] { door_.Pass(); }));
  door_.AwaitWaiting(1);
  EXPECT_TRUE(pool.TryRun([] {}));
  EXPECT_TRUE(pool.TryRun([] {}));
  EXPECT_FALSE(pool.TryRun([] {}));
  door_.Open();
}

// A job whose part can be moved, but not copied.
struct Owner {
  std::unique_ptr<int> part;
  int* ran;
  void operator()() { *ran += *part; }
};

TEST_F(ThreadPoolTest, ARefusedJobStaysWithItsCaller) {
  int ran = 0;
  {
    ThreadPool pool(Options(1, 1, 1));
    ASSERT_TRUE(pool.TryRun([&] { door_.Pass(); }));
    door_.AwaitWaiting(1);
    Owner taken{std::make_unique<int>(5), &ran};
    EXPECT_TRUE(pool.TryRun(std::move(taken)));
    EXPECT_EQ(taken.part, nullptr);
    Owner refused{std::make_unique<int>(7), &ran};
    EXPECT_FALSE(pool.TryRun(std::move(refused)));
    ASSERT_NE(refused.part, nullptr);
    EXPECT_EQ(*refused.part, 7);
    door_.Open();
  }
  EXPECT_EQ(ran, 5);
}

TEST_F(ThreadPoolTest, JobsThatHangGiveTheirPlacesAway) {
  Door others;  // outlives the threads that pass it
  ThreadPool pool(Options(1, 3));
  for (int i = 1; i <= 2; ++i) {
    ASSERT_TRUE(pool.TryRun([&] { door_.Pass(); }));
    if (i == 2) ComeLate();
    door_.AwaitWaiting(i);
  }
  ASSERT_TRUE(pool.TryRun([&] { others.Pass(); }));
  ComeLate();
  others.AwaitWaiting(1);
  others.Open();
  door_.Open();
}

TEST_F(ThreadPoolTest, OnePlaceRunsThemInOrder) {
  std::vector<int> order;
  {
    ThreadPool pool(Options(1, 1));
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(pool.TryRun([&order, i] { order.push_back(i); }));
    }
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(ThreadPoolTest, TwoPlacesRunTwoAtTheSameTime) {
  ThreadPool pool(Options(2, 2));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(pool.TryRun([&] { door_.Pass(); }));
  door_.AwaitWaiting(2);
  door_.Open();
}

TEST_F(ThreadPoolTest, RunsEveryJobOnceAndOnItsThreads) {
  std::atomic<int> ran{0};
  Mutex mu;
  std::set<std::thread::id> threads;
  {
    ThreadPool pool(Options(3, 3, 10'000));
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(pool.TryRun([&] {
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

TEST_F(ThreadPoolTest, AJobThatThrowsIsTheOnlyOneGivenUp) {
  bool ran = false;
  {
    ThreadPool pool(Options(1, 1));
    ASSERT_TRUE(pool.TryRun([] { throw std::runtime_error("no"); }));
    ASSERT_TRUE(pool.TryRun([&] { ran = true; }));
  }
  EXPECT_TRUE(ran);
}

TEST_F(ThreadPoolTest, ItsDestructorWaitsForTheJobsOfJobs) {
  bool ran = false;
  {
    ThreadPool pool(Options(1, 1));
    ASSERT_TRUE(pool.TryRun([&] {
      door_.Pass();
      EXPECT_TRUE(pool.TryRun([&] { ran = true; }));
    }));
    door_.AwaitWaiting(1);
    door_.Open();
  }
  EXPECT_TRUE(ran);
}

TEST_F(ThreadPoolTest, AThreadThatHasLostItsPlaceEndsAfterItsJob) {
  Door second;  // outlive the threads that pass them
  Door third;
  ThreadPool pool(Options(1, 2));
  ASSERT_TRUE(pool.TryRun([&] { door_.Pass(); }));
  door_.AwaitWaiting(1);
  ASSERT_TRUE(pool.TryRun([&] { second.Pass(); }));
  ComeLate();
  second.AwaitWaiting(1);
  ASSERT_TRUE(pool.TryRun([&] { third.Pass(); }));
  EXPECT_EQ(clock_.TimedWaiters(), 0u) << "there may be no more threads";
  // The thread of the first job takes no other one. It makes room for a thread that takes the place
  // of the second job, once that is late.
  door_.Open();
  ComeLate();
  third.AwaitWaiting(1);
  second.Open();
  third.Open();
}

TEST_F(ThreadPoolTest, ThereAreOnlySoManyThreads) {
  ThreadPool pool(Options(1, 2));
  ASSERT_TRUE(pool.TryRun([&] { door_.Pass(); }));
  door_.AwaitWaiting(1);
  ASSERT_TRUE(pool.TryRun([&] { door_.Pass(); }));
  ComeLate();
  door_.AwaitWaiting(2);
  std::atomic<bool> ran{false};
  ASSERT_TRUE(pool.TryRun([&] { ran = true; }));
  clock_.Advance(std::chrono::seconds(10));
  EXPECT_EQ(clock_.TimedWaiters(), 0u) << "it waits for one of them to return";
  EXPECT_FALSE(ran.load());
  door_.Open();
  EXPECT_TRUE(pool.End(TimePoint::max()));
  EXPECT_TRUE(ran.load());
}

TEST_F(ThreadPoolTest, ItsEndDoesNotWaitForAJobThatHangs) {
  ThreadPool pool(Options(1, 1));
  const auto held = std::make_shared<int>(0);
  ASSERT_TRUE(pool.TryRun([&] { door_.Pass(); }));
  door_.AwaitWaiting(1);
  ASSERT_TRUE(pool.TryRun([held] {}));
  EXPECT_FALSE(pool.End(clock_.Now()));
  EXPECT_EQ(held.use_count(), 1) << "what waits is destroyed";
  EXPECT_FALSE(pool.TryRun([] {}));
  door_.Open();
  EXPECT_TRUE(pool.End(TimePoint::max()));
}

TEST_F(ThreadPoolTest, ItsEndWaitsUntilTheDeadline) {
  ThreadPool pool(Options(1, 1));
  ASSERT_TRUE(pool.TryRun([&] { door_.Pass(); }));
  door_.AwaitWaiting(1);
  std::thread opener([&] {
    while (clock_.TimedWaiters() == 0) std::this_thread::yield();
    door_.Open();
  });
  EXPECT_TRUE(pool.End(clock_.Now() + std::chrono::seconds(1)));
  opener.join();
}

// ---- Without places

ThreadPoolOptions OnePerJob(int most_threads) {
  return {.name = "pool test", .threads = 0, .most_threads = most_threads};
}

TEST_F(ThreadPoolTest, WithoutPlacesEveryJobRunsAndIsWaitedFor) {
  std::atomic<int> ran{0};
  {
    ThreadPool pool(OnePerJob(1000));
    for (int i = 0; i < 100; ++i) {
      std::function<void()> job = [&] { ++ran; };
      ASSERT_TRUE(pool.TryRun(std::move(job)));
    }
  }
  EXPECT_EQ(ran.load(), 100);
}

TEST_F(ThreadPoolTest, WithoutPlacesAJobThatHangsHoldsUpNoOther) {
  Door other;  // outlives the threads that pass it
  ThreadPool pool(OnePerJob(2));
  ASSERT_TRUE(pool.TryRun([&] { door_.Pass(); }));
  door_.AwaitWaiting(1);
  ASSERT_TRUE(pool.TryRun([&] { other.Pass(); }));
  other.AwaitWaiting(1);
  other.Open();
  door_.Open();
}

TEST_F(ThreadPoolTest, WithoutPlacesAndBeyondTheLimitTheJobStaysWithItsCaller) {
  bool ran = false;
  ThreadPool pool(OnePerJob(1));
  ASSERT_TRUE(pool.TryRun([&] { door_.Pass(); }));
  std::function<void()> refused = [&] { ran = true; };
  EXPECT_FALSE(pool.TryRun(std::move(refused)));
  ASSERT_NE(refused, nullptr);
  refused();
  EXPECT_TRUE(ran);
  door_.Open();
}

TEST_F(ThreadPoolTest, WithoutPlacesWhatAJobHoldsGoesBeforeTheDestructorReturns) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  {
    ThreadPool pool(OnePerJob(1));
    ASSERT_TRUE(pool.TryRun([held = std::move(held)] {}));
  }
  EXPECT_TRUE(watch.expired());
}

TEST_F(ThreadPoolTest, WithoutPlacesItsEndWaitsUntilTheDeadline) {
  ThreadPoolOptions options = OnePerJob(1);
  options.clock = &clock_;
  ThreadPool pool(options);
  ASSERT_TRUE(pool.TryRun([&] { door_.Pass(); }));
  door_.AwaitWaiting(1);
  EXPECT_FALSE(pool.End(clock_.Now()));
  EXPECT_FALSE(pool.TryRun([] {}));
  door_.Open();
  EXPECT_TRUE(pool.End(TimePoint::max()));
}

}  // namespace
}  // namespace nereid
