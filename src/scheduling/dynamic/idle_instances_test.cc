// SPDX-License-Identifier: Apache-2.0
#include "scheduling/dynamic/dynamic_scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace nereid {
namespace {

constexpr Duration kDelay = std::chrono::milliseconds(1);

class Executor final : public BatchExecutor {
 public:
  Duration Execute(Batch) override { return Duration(0); }
  bool lendable() const override { return may_be_lent; }
  bool yields() const override { return leaves_work; }

  bool may_be_lent = true;
  std::atomic<bool> leaves_work{false};
};

class IdleInstancesTest : public ::testing::Test, protected IdleInstances::Borrower {
 protected:
  void TearDown() override {
    {
      MutexLock lock(&mu_);
      idle_.WakeAll();
    }
    for (std::thread& thread : threads_) thread.join();
  }

  void WaitOnce(BatchExecutor* self, std::optional<Duration> at_most) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    std::optional<TimePoint> wake_at;
    if (at_most.has_value()) wake_at = clock_.Now() + *at_most;
    idle_.Wait(&mu_, &clock_, self, wake_at);
    ++woken_;
    changed_.NotifyAll();
  }
  // Starts a thread of instance `self` that waits once. Returns when the thread waits.
  void Sleep(BatchExecutor* self, std::optional<Duration> at_most = {}) {
    const size_t before = size();
    threads_.emplace_back([=] { WaitOnce(self, at_most); });
    while (size() == before) std::this_thread::yield();
  }
  size_t size() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return idle_.size();
  }
  // Wakes one thread and returns its instance.
  const BatchExecutor* WakeOne() ABSL_LOCKS_EXCLUDED(mu_) {
    IdleInstances::Waiter* waiter;
    const BatchExecutor* executor;
    {
      MutexLock lock(&mu_);
      waiter = idle_.Take();
      executor = waiter->executor();
    }
    waiter->Wake();
    return executor;
  }
  IdleInstances::Waiter* Lend(const InlineTurn* deferred_to = nullptr) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return idle_.Lend(deferred_to);
  }
  void GiveBack(IdleInstances::Waiter* loan) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    idle_.GiveBack(loan);
  }
  void AwaitWoken(int count) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    while (woken_ < count) changed_.Wait(&mu_);
  }
  int woken() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return woken_;
  }
  bool IsLentTo(const InlineTurn* turn) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return idle_.IsLentTo(turn);
  }
  void RunOnLoan(IdleInstances::Waiter* loan, InlineTurn* turn) noexcept override {
    EXPECT_TRUE(mu_.TryLock());
    mu_.Unlock();
    ran_ = loan;
    ran_in_ = turn;
  }

  FakeClock clock_;
  Mutex mu_;
  CondVar changed_;
  IdleInstances idle_ ABSL_GUARDED_BY(mu_){this};
  int woken_ ABSL_GUARDED_BY(mu_) = 0;
  Executor a_, b_, c_;
  std::vector<std::thread> threads_;
  IdleInstances::Waiter* ran_ = nullptr;
  InlineTurn* ran_in_ = nullptr;
};

TEST_F(IdleInstancesTest, TheLastThatCameIsWokenFirst) {
  Sleep(&a_);
  Sleep(&b_);
  EXPECT_EQ(WakeOne(), &b_);
  EXPECT_EQ(WakeOne(), &a_);
  AwaitWoken(2);
  MutexLock lock(&mu_);
  EXPECT_EQ(idle_.Take(), nullptr);
}

TEST_F(IdleInstancesTest, TheLeaderIsWokenBeforeAll) {
  Sleep(&a_, kDelay);
  Sleep(&b_);
  EXPECT_EQ(WakeOne(), &a_);
  AwaitWoken(1);
  EXPECT_EQ(WakeOne(), &b_);
}

TEST_F(IdleInstancesTest, OneThatYieldsIsNotWoken) {
  Sleep(&a_);
  Sleep(&b_, kDelay);  // leads
  Sleep(&c_);
  b_.leaves_work = true;
  c_.leaves_work = true;
  EXPECT_EQ(WakeOne(), &a_);
  AwaitWoken(1);
  MutexLock lock(&mu_);
  EXPECT_EQ(idle_.Take(), nullptr);
  EXPECT_EQ(idle_.size(), 2u);
}

TEST_F(IdleInstancesTest, TheLeaderLooksAtItsTimeAndNobodyElse) {
  Sleep(&a_, kDelay);
  Sleep(&b_, kDelay);
  EXPECT_EQ(clock_.TimedWaiters(), 1u) << "one keeps the time for all";
  clock_.Advance(kDelay);
  AwaitWoken(1);
  {
    MutexLock lock(&mu_);
    EXPECT_FALSE(idle_.has_leader());
    EXPECT_EQ(idle_.size(), 1u);
  }
  Sleep(&c_, kDelay);
  EXPECT_EQ(clock_.TimedWaiters(), 1u) << "the next that has a time leads";
  EXPECT_EQ(WakeOne(), &c_);
  EXPECT_EQ(WakeOne(), &b_);
}

TEST_F(IdleInstancesTest, AllAreWokenAtOnce) {
  Sleep(&a_, kDelay);
  Sleep(&b_);
  {
    MutexLock lock(&mu_);
    idle_.WakeAll();
    EXPECT_TRUE(idle_.empty());
  }
  AwaitWoken(2);
}

TEST_F(IdleInstancesTest, AWakeUpThatComesLateWakesTheNextOneForNothing) {
  IdleInstances::Waiter* late;
  Sleep(&a_);
  {
    MutexLock lock(&mu_);
    late = idle_.Take();
  }
  late->Wake();
  AwaitWoken(1);
  Sleep(&b_);
  late->Wake();  // the object was kept, and is used again
  AwaitWoken(2);
  EXPECT_EQ(size(), 0u);
}

// ---- Loans.

TEST_F(IdleInstancesTest, OnlyInstancesThatMayBeLentAreLent) {
  Sleep(&a_, kDelay);
  Sleep(nullptr);
  EXPECT_EQ(Lend(), nullptr);
  Sleep(&b_);
  b_.may_be_lent = false;
  EXPECT_EQ(Lend(), nullptr) << "its backend does not want it";
  b_.may_be_lent = true;
  IdleInstances::Waiter* const loan = Lend();
  ASSERT_NE(loan, nullptr);
  EXPECT_EQ(loan->executor(), &b_);
  EXPECT_EQ(Lend(), nullptr) << "it is out";
  EXPECT_EQ(size(), 2u);
  GiveBack(loan);
  EXPECT_EQ(size(), 3u);
}

TEST_F(IdleInstancesTest, TheThreadOfAnInstanceOnLoanSleepsOn) {
  Sleep(&a_);
  IdleInstances::Waiter* const loan = Lend();
  loan->Wake();  // has no effect while on loan
  {
    MutexLock lock(&mu_);
    idle_.WakeAll();  // does not wake the instance on loan
  }
  EXPECT_EQ(woken(), 0);
  GiveBack(loan);
  EXPECT_EQ(size(), 1u);
  EXPECT_EQ(WakeOne(), &a_);
  AwaitWoken(1);
}

TEST_F(IdleInstancesTest, ADeferredLoanIsItsTurnsUntilItBegins) {
  InlineTurn turn, other_turn;
  Sleep(&a_);
  IdleInstances::Waiter* const loan = Lend(&turn);
  EXPECT_TRUE(IsLentTo(&turn));
  EXPECT_FALSE(IsLentTo(&other_turn));
  loan->RunInline(&turn);
  EXPECT_EQ(ran_, loan);
  EXPECT_EQ(ran_in_, &turn);
  {
    MutexLock lock(&mu_);
    idle_.BeginLoan(loan);
  }
  EXPECT_FALSE(IsLentTo(&turn)) << "what comes from now on it does not see";
  GiveBack(loan);
  IdleInstances::Waiter* const at_once = Lend();
  EXPECT_FALSE(IsLentTo(&turn));
  GiveBack(at_once);
}

// ---- Retirement.

TEST_F(IdleInstancesTest, ARetiredInstanceIsToldOnce) {
  MutexLock lock(&mu_);
  EXPECT_FALSE(idle_.TakeRetired(&a_));
  idle_.RemoveInstance(&a_);
  EXPECT_FALSE(idle_.TakeRetired(&b_));
  EXPECT_FALSE(idle_.TakeRetired(nullptr));
  EXPECT_TRUE(idle_.TakeRetired(&a_));
  EXPECT_FALSE(idle_.TakeRetired(&a_));
}

TEST_F(IdleInstancesTest, OneThatWaitsIsWokenToRetire) {
  Sleep(&a_);
  MutexLock lock(&mu_);
  idle_.RemoveInstance(&a_);
  while (woken_ < 1) changed_.Wait(&mu_);
  EXPECT_TRUE(idle_.TakeRetired(&a_));
}

TEST_F(IdleInstancesTest, OneThatIsOnLoanIsWokenToRetireWhenItIsBack) {
  Sleep(&a_);
  IdleInstances::Waiter* const loan = Lend();
  MutexLock lock(&mu_);
  idle_.RemoveInstance(&a_);
  idle_.GiveBack(loan);
  while (woken_ < 1) changed_.Wait(&mu_);
  EXPECT_TRUE(idle_.TakeRetired(&a_));
}

}  // namespace
}  // namespace nereid
