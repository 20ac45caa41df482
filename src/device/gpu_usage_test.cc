// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_usage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace nereid {
namespace {

using std::chrono::milliseconds;

class GpuUsageTest : public testing::Test {
 protected:
  void SetUp() override { setenv("SIMULATED_NVML", file_.c_str(), 1); }
  void TearDown() override {
    unsetenv("SIMULATED_NVML");
    std::remove(file_.c_str());
  }
  void Measure(const std::string& lines) { std::ofstream(file_) << lines; }
  static std::vector<GpuInfo> Two() {
    std::vector<GpuInfo> gpus(2);
    gpus[0].id = 0;
    gpus[0].uuid = "GPU-a";
    gpus[0].pci_bus_id = "0000:3b:00.0";
    gpus[1].id = 1;
    gpus[1].uuid = "GPU-b";
    gpus[1].pci_bus_id = "0000:3c:00.0";
    return gpus;
  }
  // The samples as soon as `done` of them, since a thread of its own takes them.
  template <typename Done>
  std::vector<GpuSample> Await(const GpuUsage& usage, Done done) {
    std::vector<GpuSample> samples = usage.Latest();
    while (!done(samples)) {
      clock_.Advance(milliseconds(500));
      std::this_thread::yield();
      samples = usage.Latest();
    }
    return samples;
  }

  FakeClock clock_;
  const std::string file_ = testing::TempDir() + "usage_" + std::to_string(getpid());
};

TEST_F(GpuUsageTest, ReadsAtTheStartAndThenTwicePerInterval) {
  Measure("0 utilization 10\n0 energy_millijoules 5000\n1 utilization 20\n");
  const auto usage = GpuUsage::Start(Two(), &clock_, milliseconds(1000), NEREID_SIMULATED_NVML);
  ASSERT_TRUE(usage.ok()) << usage.status();
  std::vector<GpuSample> samples = (*usage)->Latest();
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].uuid, "GPU-a");
  EXPECT_EQ(samples[0].reading.utilization, 0.1);
  EXPECT_EQ(samples[0].reading.energy_joules, 0) << "since the start";
  EXPECT_EQ(samples[1].id, 1);
  EXPECT_FALSE(samples[1].reading.energy_joules.has_value());
  Measure("0 utilization 30\n0 energy_millijoules 7500\n1 utilization 20\n");
  samples = Await(**usage, [](const auto& all) {
    return all.size() == 2 && all[0].reading.utilization == 0.3 &&
           all[0].reading.energy_joules.has_value();
  });
  EXPECT_EQ(samples[0].reading.energy_joules, 2.5);
}

TEST_F(GpuUsageTest, AGpuThatIsLostHasNoSampleAndTheOtherGoesOn) {
  Measure("0 utilization 10\n1 utilization 20\n");
  const auto usage = GpuUsage::Start(Two(), &clock_, milliseconds(1000), NEREID_SIMULATED_NVML);
  ASSERT_TRUE(usage.ok()) << usage.status();
  Measure("0 lost 1\n1 utilization 20\n");
  EXPECT_EQ(Await(**usage, [](const auto& all) { return all.size() == 1; })[0].uuid, "GPU-b");
}

TEST_F(GpuUsageTest, SaysWhyNothingIsMeasured) {
  unsetenv("SIMULATED_NVML");
  EXPECT_EQ(
      GpuUsage::Start(Two(), &clock_, milliseconds(1000), NEREID_SIMULATED_NVML).status().code(),
      absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace nereid
