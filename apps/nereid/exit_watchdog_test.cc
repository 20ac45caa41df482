// SPDX-License-Identifier: Apache-2.0
#include "exit_watchdog.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace nereid {
namespace {

class ExitWatchdogTest : public ::testing::Test {
 protected:
  void AwaitArmed() {
    while (clock_.TimedWaiters() == 0) std::this_thread::yield();
  }

  FakeClock clock_;
  std::promise<void> ended_;
  int reports_ = 0;
  ExitWatchdog watchdog_{&clock_, [this](const std::function<void()>& last_words) {
                           last_words();
                           ended_.set_value();
                         }};
};

TEST_F(ExitWatchdogTest, EndsTheProcessAtTheDeadlineAndNotBefore) {
  auto ended = ended_.get_future();
  watchdog_.Arm(clock_.Now() + std::chrono::seconds(7), [this] {
    ++reports_;
    return std::vector<std::string>{"a model"};
  });
  AwaitArmed();
  clock_.Advance(std::chrono::seconds(6));
  AwaitArmed();
  EXPECT_EQ(ended.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  clock_.Advance(std::chrono::seconds(1));
  ended.wait();
  EXPECT_EQ(reports_, 1);
}

TEST_F(ExitWatchdogTest, OnlyTheLastReporterIsAsked) {
  auto ended = ended_.get_future();
  watchdog_.Arm(clock_.Now() + std::chrono::seconds(7), [this] {
    ++reports_;
    return std::vector<std::string>{};
  });
  bool asked = false;
  watchdog_.Report([&] {
    asked = true;
    return std::vector<std::string>{};
  });
  AwaitArmed();
  clock_.Advance(std::chrono::seconds(7));
  ended.wait();
  EXPECT_TRUE(asked);
  EXPECT_EQ(reports_, 0);
}

TEST_F(ExitWatchdogTest, UnarmedItGoesQuietly) { EXPECT_EQ(reports_, 0); }

// The exit status is 1, whether or not the last words return.
TEST(ExitWatchdogDeathTest, EndProcessEndsAlsoWhenTheLastWordsHang) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(EndProcess([] {}), ::testing::ExitedWithCode(1), "");
  EXPECT_EXIT(EndProcess([] { std::promise<void>().get_future().wait(); }),
              ::testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace nereid
