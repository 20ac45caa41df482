// SPDX-License-Identifier: Apache-2.0
#include "execution/device_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace nereid {
namespace {

TEST(DeviceThreadTest, OneThreadDoesTheWorkOfAll) {
  std::thread::id prepared;
  DeviceThread device("device", [&] { prepared = std::this_thread::get_id(); });
  std::set<std::thread::id> seen;  // used by the device's thread alone
  std::atomic<int> inside{0};
  int most = 0, runs = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int run = 0; run < 200; ++run) {
        bool done = false;
        device.Run([&] {
          most = std::max(most, ++inside);
          seen.insert(std::this_thread::get_id());
          ++runs;
          done = true;
          --inside;
        });
        EXPECT_TRUE(done) << "Run waits";
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(runs, 8 * 200);
  EXPECT_EQ(most, 1);
  EXPECT_EQ(seen, std::set<std::thread::id>({prepared}));
}

TEST(DeviceThreadTest, EndsWithoutWork) { DeviceThread device("device", nullptr); }

}  // namespace
}  // namespace nereid
