// SPDX-License-Identifier: Apache-2.0
#include "memory_limit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "flags/command_line.h"

namespace nereid {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kGiB = 1 << 30;

class MemoryLimitTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "memory_limit.XXXXXX";
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  // `given`: the options.
  uint64_t InFlight(const std::string& told = "", std::vector<std::string> given = {}) {
    Settings settings;
    given.push_back("--model-repository=models");
    EXPECT_EQ(ParseCommandLine(given, &settings), absl::OkStatus());
    EXPECT_EQ(SetInFlightBytes(root_, told, &settings), absl::OkStatus());
    return settings.server.max_in_flight_bytes;
  }

  std::string root_;
};

TEST_F(MemoryLimitTest, NoFilesMeanNoLimit) { EXPECT_EQ(ReadMemoryLimit(root_), 0u); }

TEST_F(MemoryLimitTest, Version2) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(ReadMemoryLimit(root_), 0u);
  Write("sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_EQ(ReadMemoryLimit(root_), kGiB);
}

TEST_F(MemoryLimitTest, TheSmallestOnTheWayToTheTop) {
  Write("proc/self/cgroup", "0::/pod/container\n");
  Write("sys/fs/cgroup/pod/memory.max", "1000000\n");
  Write("sys/fs/cgroup/pod/container/memory.max", "2000000\n");
  EXPECT_EQ(ReadMemoryLimit(root_), 1'000'000u);
  Write("sys/fs/cgroup/pod/memory.max", "max\n");
  EXPECT_EQ(ReadMemoryLimit(root_), 2'000'000u);
}

TEST_F(MemoryLimitTest, Version1) {
  Write("proc/self/cgroup", "5:cpu:/x\n4:hugetlb,memory:/host/path\n0::/\n");
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n");
  EXPECT_EQ(ReadMemoryLimit(root_), 3'000'000u) << "only the container's own group is mounted";
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(ReadMemoryLimit(root_), 0u) << "as it says that there is none";
}

// Limit >= memory at rest + in flight + 192 MiB, with as much for the models as is in flight.
TEST_F(MemoryLimitTest, TheRuleOfThePage) {
  for (const uint64_t limit : {224 * kMiB, 256 * kMiB, kGiB, 8 * kGiB}) {
    const uint64_t in_flight = InFlightBytesUnder(limit, 4 * kGiB);
    EXPECT_EQ(limit, 2 * in_flight + 192 * kMiB);
  }
  EXPECT_EQ(InFlightBytesUnder(64 * kGiB, 4 * kGiB), 4 * kGiB);
  EXPECT_EQ(InFlightBytesUnder(100 * kMiB, 4 * kGiB), kLeastInFlightBytes);
}

TEST_F(MemoryLimitTest, TheOptionThenTheSmallestLimitDecides) {
  EXPECT_EQ(InFlight(), 4 * kGiB);
  EXPECT_EQ(InFlight("1073741824"), 416 * kMiB) << "that of the container";
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/memory.max", "536870912\n");
  EXPECT_EQ(InFlight(), 160 * kMiB);
  EXPECT_EQ(InFlight("1073741824"), 160 * kMiB);
  EXPECT_EQ(InFlight("1073741824", {"--max-in-flight-bytes=7"}), 7u);
  EXPECT_EQ(InFlight("", {"--max-in-flight-bytes=0"}), 0u) << "no limit was asked for";
  Settings settings;
  EXPECT_EQ(SetInFlightBytes(root_, "1Gi", &settings),
            absl::InvalidArgumentError("Bad option: \"NEREID_MEMORY_LIMIT\".\nInvalid value. Got "
                                       "1Gi (use a number of bytes)"));
}

}  // namespace
}  // namespace nereid
