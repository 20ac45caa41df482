// SPDX-License-Identifier: Apache-2.0
#include "execution/rate_limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace nereid {
namespace {

InstanceSpec Needs(uint32_t count) {
  InstanceSpec spec;
  spec.resources.push_back({"R", false, count});
  return spec;
}

TEST(RateLimiterTest, SeatsWaitForEachOther) {
  RateLimiter limiter({});
  const auto a = *limiter.Register(Needs(1));
  const auto b = *limiter.Register(Needs(1));
  EXPECT_TRUE(a->Stage());
  EXPECT_TRUE(a->Await()) << "who has it need not wait";
  EXPECT_FALSE(b->Stage());
  std::thread waits([&] { EXPECT_TRUE(b->Await()); });
  a->Release(/*used=*/true);
  waits.join();
  EXPECT_FALSE(a->Stage());
}

TEST(RateLimiterTest, WhoAsksAgainAtOnceIsConsideredWithThoseThatWait) {
  RateLimiter limiter({});
  const auto first = *limiter.Register(Needs(1));
  InstanceSpec less = Needs(1);
  less.rate_priority = 2;
  const auto second = *limiter.Register(less);
  ASSERT_TRUE(first->Stage());
  ASSERT_FALSE(second->Stage());
  ASSERT_TRUE(first->Restage()) << "two of its turns end with the other's first, and it is better";
  ASSERT_FALSE(first->Restage()) << "the other's turn";
  ASSERT_TRUE(second->Await());
  ASSERT_FALSE(second->Restage());
  ASSERT_TRUE(first->Await());
  EXPECT_TRUE(first->Restage());
}

TEST(RateLimiterTest, ASeatThatGoesGivesBack) {
  RateLimiter limiter({});
  auto a = *limiter.Register(Needs(1));
  const auto b = *limiter.Register(Needs(1));
  ASSERT_TRUE(a->Stage());
  ASSERT_FALSE(b->Stage());
  a.reset();
  EXPECT_TRUE(b->Await());
}

TEST(RateLimiterTest, AClosedSeatDoesNotWait) {
  RateLimiter limiter({});
  const auto a = *limiter.Register(Needs(1));
  const auto b = *limiter.Register(Needs(1));
  ASSERT_TRUE(a->Stage());
  ASSERT_FALSE(b->Stage());
  std::thread waits([&] { EXPECT_FALSE(b->Await()); });
  b->Close();
  waits.join();
  EXPECT_FALSE(b->Await());
}

TEST(RateLimiterTest, AClosedSeatKeepsNothingFromTheOthers) {
  RateLimiter limiter({});
  const auto a = *limiter.Register(Needs(1));
  const auto closed = *limiter.Register(Needs(1));
  const auto granted = *limiter.Register(Needs(1));
  const auto c = *limiter.Register(Needs(1));
  ASSERT_TRUE(a->Stage());
  ASSERT_FALSE(closed->Stage());
  closed->Close();
  EXPECT_FALSE(closed->Await());
  ASSERT_FALSE(granted->Stage());
  ASSERT_FALSE(c->Stage());
  a->Release(/*used=*/true);
  EXPECT_FALSE(c->Stage()) << "the turn of the seat before it";
  granted->Close();
  EXPECT_FALSE(granted->Await());
  EXPECT_TRUE(c->Stage());
}

TEST(RateLimiterTest, ErrorsOfTheLedgerAreTold) {
  RateLimiter limiter({{"R", {{kEveryDevice, 1}}}});
  EXPECT_EQ(limiter.Register(Needs(2)).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE((*limiter.Register(Needs(1)))->Stage());
}

TEST(RateLimiterTest, UnderLoadNoMoreThanThereIsAreAtWork) {
  RateLimiter limiter({{"R", {{kEveryDevice, 3}}}});
  std::atomic<int> in_use{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    const int count = 1 + i % 3;
    threads.emplace_back([&, count, seat = *limiter.Register(Needs(static_cast<uint32_t>(count)))] {
      for (int turn = 0; turn < 2000; ++turn) {
        if (!seat->Stage()) {
          ASSERT_TRUE(seat->Await());
        }
        const int now = in_use.fetch_add(count) + count;
        int seen = most.load();
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        in_use.fetch_sub(count);
        seat->Release(/*used=*/turn % 5 > 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(in_use.load(), 0);
  EXPECT_LE(most.load(), 3);
  EXPECT_GE(most.load(), 1);
}

}  // namespace
}  // namespace nereid
