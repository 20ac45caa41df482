// SPDX-License-Identifier: Apache-2.0
#include "base/background_thread.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/sched_attributes.h"

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

TEST(BackgroundThreadTest, KeepsItsShareAndThreadsItMakesAreOrdinary) {
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

TEST(BackgroundThreadTest, LeavesAnotherPolicyAlone) {
  SchedAttributes batch = OfThisThread();
  if (batch.policy != SchedAttributes::kNormalPolicy) GTEST_SKIP() << "not ours to change";
  OnNewThread([&] {
    batch.policy = SchedAttributes::kBatchPolicy;
    ASSERT_TRUE(SetSchedAttributes(batch));
    EXPECT_FALSE(BecomeBackgroundThread());
    EXPECT_EQ(OfThisThread().flags & SchedAttributes::kResetOnFork, 0u);
  });
}

}  // namespace
}  // namespace nereid
