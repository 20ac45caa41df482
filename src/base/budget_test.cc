#include "base/budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace nereid {
namespace {

TEST(BudgetTest, UnitsGiveThemselvesBack) {
  Budget budget("bytes", 100);
  {
    const absl::StatusOr<BudgetUnits> units = budget.Take(60);
    ASSERT_TRUE(units.ok());
    EXPECT_EQ(units->amount(), 60u);
    EXPECT_EQ(budget.used(), 60u);
  }
  EXPECT_EQ(budget.used(), 0u);
}

TEST(BudgetTest, ARefusalNamesTheBudgetAndTakesNothing) {
  Budget budget("bytes", 100);
  const absl::StatusOr<BudgetUnits> units = budget.Take(60);
  ASSERT_TRUE(units.ok());
  EXPECT_EQ(budget.Take(41).status(),
            absl::UnavailableError("server limit 'bytes' of 100 is exhausted: 60 in use and 41 "
                                   "more asked for; try again later"));
  EXPECT_EQ(budget.used(), 60u);
}

TEST(BudgetTest, TheWholeLimitMayBeTaken) {
  Budget budget("bytes", 100);
  EXPECT_TRUE(budget.Take(100).ok());
  EXPECT_FALSE(budget.Take(101).ok());
}

TEST(BudgetTest, NoLimitRefusesNothingAndStillCounts) {
  Budget budget("bytes", 0);
  const absl::StatusOr<BudgetUnits> units = budget.Take(uint64_t{1} << 60);
  ASSERT_TRUE(units.ok());
  EXPECT_EQ(budget.used(), uint64_t{1} << 60);
}

TEST(BudgetTest, AnAmountThatWouldWrapAroundIsRefused) {
  Budget budget("bytes", 100);
  const absl::StatusOr<BudgetUnits> units = budget.Take(60);
  ASSERT_TRUE(units.ok());
  EXPECT_FALSE(budget.Take(UINT64_MAX - 10).ok());
  EXPECT_EQ(budget.used(), 60u);
}

TEST(BudgetTest, MovedUnitsAreReturnedOnce) {
  Budget budget("bytes", 100);
  BudgetUnits first = *budget.Take(10);
  BudgetUnits second = std::move(first);
  EXPECT_EQ(first.amount(), 0u);
  EXPECT_EQ(second.amount(), 10u);
  EXPECT_EQ(budget.used(), 10u);
  second = *budget.Take(30);
  EXPECT_EQ(budget.used(), 30u) << "what was assigned over went back";
  second.Return();
  second.Return();
  EXPECT_EQ(budget.used(), 0u);
}

TEST(BudgetTest, ManyThreadsNeverExceedTheLimit) {
  constexpr int kThreads = 4, kRounds = 2000;
  Budget budget("slots", kThreads - 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const absl::StatusOr<BudgetUnits> units = budget.Take(1);
        if (!units.ok()) {
          EXPECT_EQ(units.status().code(), absl::StatusCode::kUnavailable);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0u);
}

}  // namespace
}  // namespace nereid
