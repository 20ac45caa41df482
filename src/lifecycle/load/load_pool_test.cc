// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/load/load_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace nereid {
namespace {

TEST(LoadPoolTest, RunsEverythingBeforeItEnds) {
  std::atomic<int> done{0};
  {
    LoadPool pool(3, Clock::Real());
    for (int i = 0; i < 100; ++i) pool.Run([&] { ++done; });
  }
  EXPECT_EQ(done.load(), 100);
}

TEST(LoadPoolTest, OneThreadRunsThemInOrder) {
  std::vector<int> order;
  {
    LoadPool pool(1, Clock::Real());
    for (int i = 0; i < 5; ++i) pool.Run([&order, i] { order.push_back(i); });
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(LoadPoolTest, TasksRunAtTheSameTime) {
  Mutex mu;
  CondVar changed;
  int running = 0;
  {
    LoadPool pool(2, Clock::Real());
    // Each task waits for the other: neither would end if they ran one after the other.
    for (int i = 0; i < 2; ++i) {
      pool.Run([&] {
        MutexLock lock(&mu);
        ++running;
        changed.NotifyAll();
        while (running < 2) changed.Wait(&mu);
      });
    }
  }
  EXPECT_EQ(running, 2);
}

TEST(LoadPoolTest, ATaskThatHangsLosesItsPlace) {
  FakeClock clock;
  Mutex mu;
  CondVar changed;
  bool let_go = false;
  bool other_ran = false;
  {
    LoadPool pool(1, &clock);
    pool.Run([&] {
      MutexLock lock(&mu);
      while (!let_go) changed.Wait(&mu);
    });
    pool.Run([&] {
      MutexLock lock(&mu);
      other_ran = true;
      changed.NotifyAll();
    });
    // Waits until the watcher waits for the end of kPatience.
    while (clock.TimedWaiters() == 0) std::this_thread::yield();
    clock.Advance(LoadPool::kPatience);
    MutexLock lock(&mu);
    while (!other_ran) changed.Wait(&mu);
    let_go = true;
    changed.NotifyAll();
  }
  EXPECT_TRUE(other_ran);
}

}  // namespace
}  // namespace nereid
