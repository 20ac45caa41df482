// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/cpu_permits.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace nereid_backend {
namespace {

TEST(CpuPermitsTest, NeverMoreAtATimeThanThereAre) {
  constexpr int kTotal = 3;
  CpuPermits permits(kTotal);
  std::atomic<int> held{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, count = 1 + t % 3] {
      for (int i = 0; i < 2000; ++i) {
        const CpuPermits::Held mine(&permits, count);
        const int now = held += count;
        int seen = most.load();
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        held -= count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most.load(), kTotal);
  EXPECT_GE(most.load(), 1);
}

TEST(CpuPermitsTest, MoreThanThereAreMeansAll) {
  CpuPermits permits(2);
  { const CpuPermits::Held all(&permits, 100); }
  // All permits were given back, and none twice.
  const CpuPermits::Held one(&permits, 1);
  const CpuPermits::Held other(&permits, 1);
  EXPECT_EQ(permits.total(), 2);
}

// A run that needs all permits is not starved by overlapping runs that need one each.
TEST(CpuPermitsTest, TheLargeOneGetsItsTurn) {
  CpuPermits permits(2);
  std::atomic<bool> done{false};
  std::vector<std::thread> small;
  for (int t = 0; t < 3; ++t) {
    small.emplace_back([&] {
      while (!done.load()) const CpuPermits::Held mine(&permits, 1);
    });
  }
  for (int i = 0; i < 100; ++i) const CpuPermits::Held all(&permits, 2);
  done = true;
  for (std::thread& thread : small) thread.join();
}

}  // namespace
}  // namespace nereid_backend
