#include "frontends/grpc/peer_accounts.h"

#include <gtest/gtest.h>

#include <vector>

namespace nereid {
namespace {

TEST(PeerAccountsTest, CallsCountUntilTheyEnd) {
  PeerAccounts accounts(0, 0);
  std::vector<PeerAccounts::Entry> calls;
  for (uint64_t i = 0; i < 5; ++i) {
    calls.push_back(accounts.Enter("ipv4:127.0.0.1:1000"));
    EXPECT_EQ(calls.back().others(), i);
  }
  EXPECT_EQ(accounts.Enter("ipv4:127.0.0.1:1001").others(), 0u);
  calls.pop_back();
  PeerAccounts::Entry moved = std::move(calls.back());
  EXPECT_EQ(moved.others(), 3u);
  calls.clear();
  EXPECT_EQ(moved.others(), 0u);
  moved = PeerAccounts::Entry();
  EXPECT_EQ(accounts.Enter("ipv4:127.0.0.1:1000").others(), 0u);
}

TEST(PeerAccountsTest, OnlyManyRequestsAreWorthTheName) {
  EXPECT_FALSE(PeerAccounts(0, 0).AreMany(1'000'000));
  EXPECT_FALSE(PeerAccounts(800, 1600).AreMany(99));
  EXPECT_TRUE(PeerAccounts(800, 1600).AreMany(100));
  EXPECT_TRUE(PeerAccounts(0, 160).AreMany(20));
}

}  // namespace
}  // namespace nereid
