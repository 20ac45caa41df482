// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/demand/process_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

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

#ifndef NEREID_SANITIZED  // the allocators of sanitizers keep what is freed
TEST_F(ProcessMemoryTest, FreedMemoryGoesBack) {
  constexpr size_t kBlock = size_t{64} << 10;
  constexpr size_t kBlocks = 512;
  ReturnFreedMemory();
  const uint64_t before = ProcessTreeBytes("/proc");
  std::vector<std::string> blocks(kBlocks);
  for (std::string& block : blocks) block.assign(kBlock, 'x');
  // The last one stays: what is free lies below something in use.
  const std::string kept(kBlock, 'x');
  blocks.clear();
  ReturnFreedMemory();
  EXPECT_LT(ProcessTreeBytes("/proc"), before + kBlock * kBlocks / 4);
}
#endif

TEST_F(ProcessMemoryTest, IsNoneWithoutTheFiles) { EXPECT_EQ(ProcessTreeBytes(proc_), 0u); }

}  // namespace
}  // namespace nereid
