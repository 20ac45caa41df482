// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/run_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

uint64_t fake_now = 0;
uint64_t FakeNow() { return fake_now; }

class RunWatchTest : public ::testing::Test {
 protected:
  void SetUp() override { fake_now = 1'000'000'000; }
  void TearDown() override { EXPECT_EQ(testing::LiveErrors(), 0); }
  void Begin(RunWatch::Watched* watched) {
    TRITONBACKEND_Request* const pointers[] = {&first_, &second_};
    watched->Begin(pointers);
  }

  TRITONBACKEND_Request first_;
  TRITONBACKEND_Request second_;
  RunWatch watch_{false, &FakeNow};
  int stops_ = 0;
};

TEST_F(RunWatchTest, StopsOnceEveryRequestIsCancelled) {
  RunWatch::Watched watched(&watch_, false, [&] { ++stops_; });
  Begin(&watched);
  first_.cancelled = true;
  EXPECT_TRUE(watch_.Poll());
  EXPECT_TRUE(watch_.Poll());
  EXPECT_EQ(stops_, 0) << "the second is waited for";
  second_.cancelled = true;
  EXPECT_TRUE(watch_.Poll());
  EXPECT_TRUE(watch_.Poll());
  EXPECT_EQ(stops_, 1);
  EXPECT_TRUE(watched.End());
  EXPECT_FALSE(watch_.Poll());
}

TEST_F(RunWatchTest, AShortRunIsLeftAlone) {
  first_.cancelled = second_.cancelled = true;
  RunWatch::Watched watched(&watch_, false, [&] { ++stops_; });
  for (int i = 0; i < 3; ++i) {
    Begin(&watched);
    EXPECT_TRUE(watch_.Poll());
    EXPECT_FALSE(watched.End());
  }
  EXPECT_EQ(stops_, 0);
}

TEST_F(RunWatchTest, ARunDoesNotInheritTheStopOfTheOneBefore) {
  RunWatch::Watched watched(&watch_, false, [&] { ++stops_; });
  first_.cancelled = second_.cancelled = true;
  Begin(&watched);
  watch_.Poll();
  watch_.Poll();
  EXPECT_TRUE(watched.End());
  first_.cancelled = false;
  Begin(&watched);
  watch_.Poll();
  watch_.Poll();
  EXPECT_FALSE(watched.End());
  EXPECT_EQ(stops_, 1);
}

TEST_F(RunWatchTest, LateRequestsAreNotWaitedForWhereThatIsAskedFor) {
  first_.timeout_us = 5'000;
  second_.cancelled = true;
  RunWatch::Watched strict(&watch_, true, [&] { ++stops_; });
  RunWatch::Watched patient(&watch_, false, [&] { ADD_FAILURE() << "nobody asked for that"; });
  Begin(&strict);
  Begin(&patient);
  watch_.Poll();
  fake_now += 5'000'000;
  watch_.Poll();
  EXPECT_EQ(stops_, 0);
  fake_now += 1;
  watch_.Poll();
  EXPECT_EQ(stops_, 1);
  EXPECT_TRUE(strict.End());
  EXPECT_FALSE(patient.End());
}

TEST_F(RunWatchTest, ATimeOutOfCenturiesIsNone) {
  first_.timeout_us = UINT64_MAX;
  RunWatch::Watched watched(&watch_, true, [&] { ++stops_; });
  Begin(&watched);
  watch_.Poll();
  watch_.Poll();
  EXPECT_FALSE(watched.End());
}

// Tests the watch's own thread, which sleeps between checks. The test assumes nothing about timing
// except that the thread checks at some time.
TEST_F(RunWatchTest, TheThreadLooks) {
  RunWatch watch;
  std::mutex mu;
  std::condition_variable changed;
  bool stopped = false;
  RunWatch::Watched watched(&watch, false, [&] {
    const std::lock_guard<std::mutex> lock(mu);
    stopped = true;
    changed.notify_all();
  });
  first_.cancelled = second_.cancelled = true;
  Begin(&watched);
  std::unique_lock<std::mutex> lock(mu);
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(60), [&] { return stopped; }));
  lock.unlock();
  EXPECT_TRUE(watched.End());
}

}  // namespace
}  // namespace nereid_backend
