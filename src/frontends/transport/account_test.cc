// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/account.h"

#include <gtest/gtest.h>

namespace nereid::transport {
namespace {

constexpr uint64_t kFree = Account::kFreeBytes;
constexpr uint64_t kStep = Account::kStep;

TEST(AccountTest, AsksTheLimitInSteps) {
  Budget budget("bytes", 1 << 20);
  Account account(&budget);
  EXPECT_TRUE(account.Take(kFree).ok());
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_TRUE(account.Take(1).ok());
  EXPECT_EQ(budget.used(), kStep);
  EXPECT_TRUE(account.Take(kStep - 1).ok());
  EXPECT_EQ(budget.used(), kStep);
  EXPECT_TRUE(account.Take(3 * kStep + 1).ok());
  EXPECT_EQ(budget.used(), 5 * kStep);
  EXPECT_EQ(account.used(), kFree + 4 * kStep + 1);
}

TEST(AccountTest, GivesBackMoreThanItMayNeedSoon) {
  Budget budget("bytes", 1 << 20);
  Account account(&budget);
  ASSERT_TRUE(account.Take(kFree + 4 * kStep).ok());
  account.Return(kStep);
  EXPECT_EQ(budget.used(), 4 * kStep);
  account.Return(kStep);
  EXPECT_EQ(budget.used(), 2 * kStep);
  account.Return(2 * kStep);
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_EQ(account.used(), kFree);
}

TEST(AccountTest, TakesNothingIfTheLimitRefuses) {
  Budget budget("bytes", 8 * kStep);
  {
    Account account(&budget);
    ASSERT_TRUE(account.Take(kFree + kStep).ok());
    EXPECT_TRUE(absl::IsUnavailable(account.Take(8 * kStep)));
    EXPECT_EQ(account.used(), kFree + kStep);
    EXPECT_EQ(budget.used(), kStep);
    // Answers may take what new requests may not.
    EXPECT_TRUE(absl::IsUnavailable(account.Take(6 * kStep)));
    EXPECT_TRUE(account.Take(6 * kStep, ShareUse::kAnswer).ok());
  }
  EXPECT_EQ(budget.used(), 0u);
}

TEST(AccountTest, WithoutALimitEverythingIsGranted) {
  Account account(nullptr);
  EXPECT_TRUE(account.Take(uint64_t{1} << 60).ok());
  account.Return(uint64_t{1} << 60);
}

}  // namespace
}  // namespace nereid::transport
