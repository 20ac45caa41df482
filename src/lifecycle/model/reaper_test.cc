// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model/reaper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <utility>

namespace nereid {
namespace {

Reaper::Job Make(std::function<void()> fn) { return {std::move(fn)}; }

TEST(ReaperTest, DoesEverythingBeforeItEnds) {
  std::atomic<int> done{0};
  {
    Reaper reaper;
    for (int i = 0; i < 100; ++i) reaper.Run(Make([&] { ++done; }));
  }
  EXPECT_EQ(done.load(), 100);
}

TEST(ReaperTest, OneThatHangsHoldsUpNoOther) {
  std::promise<void> hangs;
  std::promise<void> other;
  Reaper reaper;
  reaper.Run(Make([until = hangs.get_future().share()] { until.wait(); }));
  reaper.Run(Make([&] { other.set_value(); }));
  other.get_future().wait();
  hangs.set_value();
}

TEST(ReaperTest, BeyondTheLimitItDoesThemItself) {
  std::promise<void> hang;
  const std::shared_future<void> until = hang.get_future().share();
  std::atomic<size_t> begun{0};
  std::promise<void> all_begun;
  std::atomic<int> done{0};
  {
    Reaper reaper;
    // One more job than there are threads: the reaper's own thread runs the last one.
    for (size_t i = 0; i <= Reaper::kMostAtATime; ++i) {
      reaper.Run(Make([&, until] {
        if (++begun == Reaper::kMostAtATime + 1) all_begun.set_value();
        until.wait();
        ++done;
      }));
    }
    all_begun.get_future().wait();
    reaper.Run(Make([&] { ++done; }));
    hang.set_value();
  }
  EXPECT_EQ(done.load(), static_cast<int>(Reaper::kMostAtATime) + 2);
}

}  // namespace
}  // namespace nereid
