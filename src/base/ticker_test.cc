// SPDX-License-Identifier: Apache-2.0
#include "base/ticker.h"

#include <gtest/gtest.h>

#include <future>
#include <new>
#include <thread>

namespace nereid {
namespace {

constexpr Duration kInterval = std::chrono::seconds(5);

TEST(TickerTest, StopsBetweenTwoCalls) {
  FakeClock clock;
  int calls = 0;
  Ticker ticker(&clock, kInterval, "count", [&] { ++calls; });
  EXPECT_TRUE(ticker.Stop(clock.Now() + std::chrono::hours(1)));
  EXPECT_EQ(calls, 0);
}

TEST(TickerTest, ACallThatHangsIsWaitedForUntilTheDeadline) {
  FakeClock clock;
  std::promise<void> begun;
  std::promise<void> hangs;
  Ticker ticker(&clock, kInterval, "count", [&] {
    begun.set_value();
    hangs.get_future().wait();
  });
  while (clock.TimedWaiters() == 0) std::this_thread::yield();
  clock.Advance(kInterval);
  begun.get_future().wait();
  EXPECT_FALSE(ticker.Stop(clock.Now())) << "the call has not returned";
  hangs.set_value();
  EXPECT_TRUE(ticker.Stop(clock.Now() + std::chrono::hours(1)));
}

TEST(TickerTest, AfterACallThatThrowsTheNextOneComesAsUsual) {
  FakeClock clock;
  std::promise<void> second;
  int calls = 0;
  Ticker ticker(&clock, kInterval, "count", [&] {
    if (++calls == 1) throw std::bad_alloc();
    if (calls == 2) second.set_value();
  });
  const std::future<void> called_again = second.get_future();
  while (called_again.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    clock.Advance(kInterval);
    std::this_thread::yield();
  }
  EXPECT_TRUE(ticker.Stop(clock.Now() + std::chrono::hours(1)));
}

}  // namespace
}  // namespace nereid
