// SPDX-License-Identifier: Apache-2.0
#include "base/threads/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/threads/thread.h"

namespace nereid {
namespace {

SchedAttributes OfThisThread() {
  SchedAttributes attributes;
  EXPECT_TRUE(GetSchedAttributes(&attributes));
  return attributes;
}

template <typename Body>
void OnNewThread(const Body& body) {
  std::thread(body).join();
}

TEST(ThreadTest, ABackgroundThreadKeepsItsShareAndThreadsItMakesAreOrdinary) {
  const SchedAttributes before = OfThisThread();
  if (before.policy != SchedAttributes::kNormalPolicy || before.nice < 0) {
    GTEST_SKIP() << "the tests run with a priority of their own";
  }
  OnNewThread([&] {
    ASSERT_TRUE(BecomeBackgroundThread());
    const SchedAttributes after = OfThisThread();
    EXPECT_EQ(after.policy, before.policy);
    EXPECT_EQ(after.nice, before.nice);
    EXPECT_EQ(after.flags & SchedAttributes::kResetOnFork, SchedAttributes::kResetOnFork);
    OnNewThread([&] {
      const SchedAttributes child = OfThisThread();
      EXPECT_EQ(child.flags & SchedAttributes::kResetOnFork, 0u);
      EXPECT_EQ(child.nice, before.nice);
      EXPECT_EQ(child.runtime_ns, before.runtime_ns);
    });
    EXPECT_TRUE(BecomeBackgroundThread()) << "may be said twice";
  });
}

TEST(ThreadTest, TheBackgroundLeavesAnotherPolicyAlone) {
  SchedAttributes batch = OfThisThread();
  if (batch.policy != SchedAttributes::kNormalPolicy) GTEST_SKIP() << "not ours to change";
  OnNewThread([&] {
    batch.policy = SchedAttributes::kBatchPolicy;
    ASSERT_TRUE(SetSchedAttributes(batch));
    EXPECT_FALSE(BecomeBackgroundThread());
    EXPECT_EQ(OfThisThread().flags & SchedAttributes::kResetOnFork, 0u);
  });
}

std::string OwnName() {
  std::array<char, 16> name{};
  EXPECT_EQ(pthread_getname_np(pthread_self(), name.data(), name.size()), 0);
  return name.data();
}

TEST(ThreadTest, HasItsNameBeforeItDoesAnything) {
  std::string name;
  StartThread({.name = "a thread"}, [&] { name = OwnName(); }).join();
  EXPECT_EQ(name, "a thread");
  StartThread({.name = "sixteen letters!"}, [&] { name = OwnName(); }).join();
  EXPECT_EQ(name, "sixteen letters");
  StartThread({}, [&] { name = OwnName(); }).join();
  EXPECT_EQ(name, OwnName());
}

TEST(ThreadTest, TakesABodyThatCanOnlyBeMoved) {
  int seen = 0;
  StartThread({}, [&, part = std::make_unique<int>(5)] { seen = *part; }).join();
  EXPECT_EQ(seen, 5);
}

TEST(ThreadTest, IsInTheBackgroundIfAskedTo) {
  const SchedAttributes mine = OfThisThread();
  if (mine.policy != SchedAttributes::kNormalPolicy || mine.nice < 0) {
    GTEST_SKIP() << "the tests run with a priority of their own";
  }
  for (const bool background : {false, true}) {
    SchedAttributes its;
    StartThread({.background = background}, [&] { its = OfThisThread(); }).join();
    EXPECT_EQ((its.flags & SchedAttributes::kResetOnFork) != 0, background);
  }
}

TEST(ThreadTest, WakesWhenDue) {
  int slack_ns = 0;
  StartThread({}, [&] {
    WakeWhenDue();
    slack_ns = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
  }).join();
  EXPECT_EQ(slack_ns, 1);
}

TEST(ThreadTest, ABrokenPipeIsNoSignal) {
  bool blocked = false;
  StartThread({}, [&] {
    BlockBrokenPipe();
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    blocked = sigismember(&mask, SIGPIPE) == 1;
  }).join();
  EXPECT_TRUE(blocked);
}

TEST(ThreadTest, RunsOnOneProcessor) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof(mine), &mine), 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &mine)) --last;
  cpu_set_t its;
  StartThread({}, [&] {
    ASSERT_TRUE(RunOnProcessors({last}));
    ASSERT_EQ(sched_getaffinity(0, sizeof(its), &its), 0);
  }).join();
  EXPECT_EQ(CPU_COUNT(&its), 1);
  EXPECT_TRUE(CPU_ISSET(last, &its));
  EXPECT_FALSE(RunOnProcessors({})) << "a thread has to run somewhere";
}

}  // namespace
}  // namespace nereid
