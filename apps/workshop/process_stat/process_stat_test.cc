// SPDX-License-Identifier: Apache-2.0
#include "process_stat/process_stat.h"

#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

namespace nereid {
namespace {

TEST(ProcessStatTest, OfThisProcess) {
  std::array<char, 16> name{};
  ASSERT_EQ(prctl(PR_GET_NAME, name.data()), 0);
  ASSERT_EQ(prctl(PR_SET_NAME, "a) S 1 2 3\n(b"), 0);
  const auto stat = ProcessStat::Of(getpid());
  prctl(PR_SET_NAME, name.data());
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->group, getpgrp());
  EXPECT_GT(stat->resident_pages, 100u);
  EXPECT_GE(stat->cpu_ticks, 0);
}

// Processes end at any time, also between the opening and the reading of the file.
TEST(ProcessStatTest, OfProcessesThatEnd) {
  std::atomic<int> watched = getpid();
  std::atomic<bool> over = false;
  std::thread reader([&] {
    while (!over) ProcessStat::Of(watched);
  });
  for (int i = 0; i < 300; ++i) {
    const pid_t pid = fork();
    if (pid == 0) _exit(0);
    watched = pid;
    waitpid(pid, nullptr, 0);
    EXPECT_FALSE(ProcessStat::Of(pid).has_value());
  }
  over = true;
  reader.join();
}

}  // namespace
}  // namespace nereid
