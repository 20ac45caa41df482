// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/demand/process_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace nereid {
namespace {

class ProcessMemoryTest : public testing::Test {
 protected:
  ProcessMemoryTest()
      : proc_(std::filesystem::path(testing::TempDir()) / ("proc" + std::to_string(getpid()))) {
    std::filesystem::remove_all(proc_);
  }
  ~ProcessMemoryTest() override { std::filesystem::remove_all(proc_); }

  void Add(int pid, int parent, int kib) {
    const std::filesystem::path folder = proc_ / std::to_string(pid);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "stat") << pid << " (a name) S) S " << parent << " 1 1 0\n";
    std::ofstream(folder / "smaps_rollup")
        << "00400000-7fff ---p 00000000 00:00 0 [rollup]\nRss:  9999 kB\nPss:  " << kib << " kB\n";
  }

  const std::filesystem::path proc_;
};

TEST_F(ProcessMemoryTest, AddsThisProcessAndItsDescendants) {
  const int own = getpid();
  Add(own, 1, 100);
  Add(own + 1, own, 20);
  Add(own + 2, own + 1, 3);
  Add(own + 3, 1, 5000);
  EXPECT_EQ(ProcessTreeBytes(proc_), uint64_t{123} << 10);
}

TEST_F(ProcessMemoryTest, IsNoneWithoutTheFiles) { EXPECT_EQ(ProcessTreeBytes(proc_), 0u); }

}  // namespace
}  // namespace nereid
