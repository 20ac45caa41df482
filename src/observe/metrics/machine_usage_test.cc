// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/machine_usage.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

using std::chrono::milliseconds;

// ---- /proc/stat

TEST(ParseCpuTicksTest, SplitsTheFirstLineIntoBusyAndIdle) {
  const auto ticks = ParseCpuTicks(
      "cpu  100 20 30 4000 500 6 7 8 90 10\n"
      "cpu0 1 2 3 4 5 6 7 8 9 10\n");
  ASSERT_TRUE(ticks.has_value());
  EXPECT_EQ(ticks->busy, 100u + 20 + 30 + 6 + 7 + 8) << "guests are in user and nice already";
  EXPECT_EQ(ticks->idle, 4000u + 500);
}

TEST(ParseCpuTicksTest, NeedsNoLineEnd) {
  EXPECT_TRUE(ParseCpuTicks("cpu 1 2 3 4 5 6 7 8").has_value());
}

TEST(ParseCpuTicksTest, AnythingElseIsNone) {
  for (const char* text : {"", "\n", "cpu", "cpu 1 2 3 4 5 6 7", "cpu0 1 2 3 4 5 6 7 8",
                           "cpu 1 2 3 x 5 6 7 8", "cpu 1 2 3 -4 5 6 7 8", "intr 1 2 3 4 5 6 7 8"}) {
    EXPECT_FALSE(ParseCpuTicks(text).has_value()) << text;
  }
}

// ---- /proc/meminfo

TEST(ParseMemoryTest, UsedIsTotalLessAvailable) {
  MachineSample sample;
  ASSERT_TRUE(ParseMemory(
      "MemTotal:       16000 kB\nMemFree:         1000 kB\nMemAvailable:    6000 kB\n", &sample));
  EXPECT_EQ(sample.memory_total_bytes, 16000u * 1024);
  EXPECT_EQ(sample.memory_used_bytes, 10000u * 1024);
}

TEST(ParseMemoryTest, AnythingElseIsRefused) {
  MachineSample sample;
  for (const char* text :
       {"", "MemTotal: 16000 kB\n", "MemAvailable: 6000 kB\n", "MemTotal:\nMemAvailable:\n",
        "MemTotal: many kB\nMemAvailable: few kB\n", "MemTotal: 1 kB\nMemAvailable: 2 kB\n"}) {
    EXPECT_FALSE(ParseMemory(text, &sample)) << text;
  }
}

// ---- Sampling

TEST(MachineUsageTest, ReadsThisMachine) {
  FakeClock clock;
  MachineUsage usage(&clock, milliseconds(100));
  const std::optional<MachineSample> sample = usage.Sample();
  ASSERT_TRUE(sample.has_value());
  EXPECT_GE(sample->cpu_utilization, 0);
  EXPECT_LE(sample->cpu_utilization, 1);
  EXPECT_GT(sample->memory_total_bytes, 0u);
  EXPECT_LE(sample->memory_used_bytes, sample->memory_total_bytes);
}

TEST(MachineUsageTest, ASampleIsKeptForTheInterval) {
  FakeClock clock;
  MachineUsage usage(&clock, milliseconds(100));
  const MachineSample first = *usage.Sample();
  clock.Advance(milliseconds(99));
  // Memory in use changes all the time: equal numbers mean the same sample.
  const MachineSample second = *usage.Sample();
  EXPECT_EQ(second.memory_used_bytes, first.memory_used_bytes);
  EXPECT_EQ(second.cpu_utilization, first.cpu_utilization);
}

}  // namespace
}  // namespace nereid
