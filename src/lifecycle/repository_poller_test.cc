#include "lifecycle/repository_poller.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace nereid {
namespace {

constexpr Duration kInterval = std::chrono::seconds(5);

TEST(RepositoryPollerTest, StopsBetweenTwoPolls) {
  FakeClock clock;
  int polls = 0;
  RepositoryPoller poller(&clock, kInterval, [&] { ++polls; });
  EXPECT_TRUE(poller.Stop(clock.Now() + std::chrono::hours(1)));
  EXPECT_EQ(polls, 0);
}

TEST(RepositoryPollerTest, APollThatHangsIsWaitedForUntilTheDeadline) {
  FakeClock clock;
  std::promise<void> begun;
  std::promise<void> hangs;
  RepositoryPoller poller(&clock, kInterval, [&] {
    begun.set_value();
    hangs.get_future().wait();
  });
  while (clock.TimedWaiters() == 0) std::this_thread::yield();
  clock.Advance(kInterval);
  begun.get_future().wait();
  EXPECT_FALSE(poller.Stop(clock.Now())) << "the poll has not returned";
  hangs.set_value();
  EXPECT_TRUE(poller.Stop(clock.Now() + std::chrono::hours(1)));
}

}  // namespace
}  // namespace nereid
