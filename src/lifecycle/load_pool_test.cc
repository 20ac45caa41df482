#include "lifecycle/load_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace nereid {
namespace {

TEST(LoadPoolTest, RunsEverythingBeforeItEnds) {
  std::atomic<int> done{0};
  {
    LoadPool pool(3);
    for (int i = 0; i < 100; ++i) pool.Run([&] { ++done; });
  }
  EXPECT_EQ(done.load(), 100);
}

TEST(LoadPoolTest, OneThreadRunsThemInOrder) {
  std::vector<int> order;
  {
    LoadPool pool(1);
    for (int i = 0; i < 5; ++i) pool.Run([&order, i] { order.push_back(i); });
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(LoadPoolTest, TasksRunAtTheSameTime) {
  Mutex mu;
  CondVar changed;
  int running = 0;
  {
    LoadPool pool(2);
    // Each waits for the other: neither would end if they ran one after the other.
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

}  // namespace
}  // namespace nereid
