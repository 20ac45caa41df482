// SPDX-License-Identifier: Apache-2.0
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

TEST(BudgetTest, UnitsCanBeSplit) {
  Budget budget("bytes", 100);
  BudgetUnits units = *budget.Take(60);
  BudgetUnits part = units.Split(20);
  EXPECT_EQ(part.amount(), 20u);
  EXPECT_EQ(units.amount(), 40u);
  EXPECT_EQ(budget.used(), 60u);
  units.Return();
  EXPECT_EQ(budget.used(), 20u);
  EXPECT_EQ(part.Split(1000).amount(), 20u);
  EXPECT_EQ(part.amount(), 0u);
  EXPECT_EQ(BudgetUnits().Split(5).amount(), 0u);
  EXPECT_EQ(budget.used(), 0u);
}

TEST(BudgetTest, AHolderHoldsWhatIsTakenForItWhoeverHasIt) {
  Budget budget("bytes", 800);
  const auto big = std::make_shared<Holder>();
  BudgetUnits first = *budget.TakeFor(big, 300, ShareUse::kAdmission);
  BudgetUnits second = *budget.TakeFor(big, 300, ShareUse::kAdmission);
  EXPECT_EQ(big->held(), 600u);
  EXPECT_FALSE(budget.TakeFor(big, 10, ShareUse::kAdmission).ok()) << "the rest is for others";
  EXPECT_TRUE(budget.TakeFor(std::make_shared<Holder>(), 90, ShareUse::kAdmission).ok());
  EXPECT_TRUE(budget.TakeFor(nullptr, 90, ShareUse::kAdmission).ok());

  BudgetUnits part = first.Split(100);
  first.Keep(50);
  EXPECT_EQ(big->held(), 450u);
  second.Add(std::move(part));
  second = BudgetUnits();
  EXPECT_EQ(big->held(), 50u);
  first.Return();
  EXPECT_EQ(big->held(), 0u);
  EXPECT_EQ(budget.used(), 0u);
}

TEST(BudgetTest, UnitsMayOutliveTheirHoldersOwner) {
  Budget budget("bytes", 100);
  BudgetUnits units = *budget.TakeFor(std::make_shared<Holder>(), 60, ShareUse::kAdmission);
  BudgetUnits moved = std::move(units);
  units.Return();
  EXPECT_EQ(budget.used(), 60u);
  moved.Return();
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

TEST(BudgetTest, UnitsAreAddedAndKeptInPart) {
  Budget budget("bytes", 100);
  BudgetUnits units;
  units.Add(*budget.Take(10));
  units.Add(*budget.Take(30));
  units.Add(BudgetUnits());
  EXPECT_EQ(units.amount(), 40u);
  EXPECT_EQ(budget.used(), 40u);
  units.Keep(5);
  EXPECT_EQ(budget.used(), 5u);
  units.Return();
  EXPECT_EQ(budget.used(), 0u);
}

TEST(BudgetTest, TheLastQuarterIsForSmallHolders) {
  Budget budget("bytes", 1000, "--max-bytes");
  BudgetUnits big = *budget.TakeFairly(750, 0, ShareUse::kAdmission);
  EXPECT_EQ(budget.most_for_one(ShareUse::kAdmission), 750u);
  // 250 are left: the client that holds 750 gets none of them, a new client at most half.
  EXPECT_EQ(
      budget.TakeFairly(1, 750, ShareUse::kAdmission).status().message(),
      "server limit 'bytes' of 1000 is exhausted: 750 in use and 1 more asked for by a client "
      "that holds 750; try again later or raise --max-bytes");
  EXPECT_FALSE(budget.TakeFairly(126, 0, ShareUse::kAdmission).ok());
  BudgetUnits newcomer = *budget.TakeFairly(100, 0, ShareUse::kAdmission);
  EXPECT_FALSE(budget.TakeFairly(1, 100, ShareUse::kAdmission).ok());
  EXPECT_TRUE(budget.TakeFairly(75, 0, ShareUse::kAdmission).ok());
  newcomer.Return();
  big.Keep(700);
  EXPECT_TRUE(budget.TakeFairly(50, 700, ShareUse::kAdmission).ok()) << "the common part again";
}

TEST(BudgetTest, AnswersGoFurtherThanWhatIsNew) {
  Budget budget("bytes", 1000);
  const BudgetUnits others = *budget.TakeFairly(750, 0, ShareUse::kAdmission);
  EXPECT_FALSE(budget.TakeFairly(126, 0, ShareUse::kAdmission).ok());
  const absl::StatusOr<BudgetUnits> answer = budget.TakeFairly(125, 0, ShareUse::kAnswer);
  ASSERT_TRUE(answer.ok());
  EXPECT_FALSE(budget.TakeFairly(64, 0, ShareUse::kAnswer).ok());
  EXPECT_TRUE(budget.TakeFairly(63, 0, ShareUse::kAnswer).ok());
}

// However many clients take as much as they may, a new client still gets something.
TEST(BudgetTest, GreedyClientsLeaveRoomForANewcomer) {
  Budget budget("bytes", uint64_t{4} << 30);
  std::vector<BudgetUnits> taken;
  for (int client = 0; client < 20; ++client) {
    uint64_t held = 0;
    for (uint64_t step = 1 << 20; step >= 4096; step /= 2) {
      for (auto more = budget.TakeFairly(step, held, ShareUse::kAdmission); more.ok();
           more = budget.TakeFairly(step, held, ShareUse::kAdmission)) {
        held += step;
        taken.push_back(*std::move(more));
      }
    }
  }
  EXPECT_TRUE(budget.TakeFairly(64 << 10, 0, ShareUse::kAdmission).ok());
}

TEST(BudgetTest, TheLastUnitIsForWhoHasNone) {
  Budget budget("requests", 4);
  const BudgetUnits three = *budget.TakeFairly(3, 0, ShareUse::kAdmission);
  EXPECT_FALSE(budget.TakeFairly(1, 3, ShareUse::kAdmission).ok());
  EXPECT_TRUE(budget.TakeFairly(1, 0, ShareUse::kAdmission).ok());
}

TEST(BudgetTest, WithoutALimitThereIsNoShare) {
  Budget budget("bytes", 0);
  EXPECT_TRUE(budget.TakeFairly(uint64_t{1} << 60, uint64_t{1} << 60, ShareUse::kAdmission).ok());
  EXPECT_EQ(budget.most_for_one(ShareUse::kAdmission), UINT64_MAX);
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
