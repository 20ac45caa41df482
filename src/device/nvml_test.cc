// SPDX-License-Identifier: Apache-2.0
#include "device/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace nereid {
namespace {

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("SIMULATED_NVML", file_.c_str(), 1);
    Measure("");
  }
  void TearDown() override {
    unsetenv("SIMULATED_NVML");
    std::remove(file_.c_str());
  }
  void Measure(const std::string& lines) { std::ofstream(file_) << lines; }

  const std::string file_ = testing::TempDir() + "nvml_" + std::to_string(getpid());
};

TEST_F(NvmlTest, ReadsWhatIsMeasuredAtThatTime) {
  const auto nvml = Nvml::Open(NEREID_SIMULATED_NVML).value();
  Measure(
      "0 utilization 99\n1 utilization 37\n1 memory_total 4000\n1 memory_used 1000\n"
      "1 power_milliwatts 61500\n1 power_limit_milliwatts 700000\n1 energy_millijoules 123456\n");
  const auto reading = nvml->Read("0000:3c:00.0");
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->utilization, 0.37);
  EXPECT_EQ(reading->memory_total_bytes, 4000u);
  EXPECT_EQ(reading->memory_used_bytes, 1000u);
  EXPECT_EQ(reading->power_watts, 61.5);
  EXPECT_EQ(reading->power_limit_watts, 700.0);
  EXPECT_EQ(reading->energy_joules, 123.456);
  Measure("1 utilization 38\n");
  EXPECT_EQ(nvml->Read("0000:3c:00.0")->utilization, 0.38);
}

TEST_F(NvmlTest, WhatAGpuDoesNotMeasureHasNoValue) {
  const auto nvml = Nvml::Open(NEREID_SIMULATED_NVML).value();
  const auto reading = nvml->Read("0000:3b:00.0");
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_FALSE(reading->utilization || reading->memory_total_bytes || reading->memory_used_bytes ||
               reading->power_watts || reading->power_limit_watts || reading->energy_joules);
}

TEST_F(NvmlTest, AGpuThatIsNotThereOrLostIsAnError) {
  const auto nvml = Nvml::Open(NEREID_SIMULATED_NVML).value();
  EXPECT_EQ(nvml->Read("0000:01:00.0").status(),
            absl::UnavailableError("the GPU at 0000:01:00.0 cannot be measured: Not Found"));
  Measure("0 lost 1\n");
  EXPECT_EQ(nvml->Read("0000:3b:00.0").status(),
            absl::UnavailableError("the GPU at 0000:3b:00.0 cannot be measured: GPU is lost"));
}

TEST_F(NvmlTest, SaysWhyNothingIsMeasured) {
  const auto missing = Nvml::Open("libnereid_there_is_no_such_nvml.so.1").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()),
              testing::StartsWith("GPUs are not measured because libnereid_"));
  EXPECT_EQ(Nvml::Open("/proc/self/cmdline").status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Nvml::Open("libm.so.6").status(),
            absl::FailedPreconditionError(
                "GPUs are not measured because libm.so.6 has no function nvmlInit_v2: that of a "
                "driver for CUDA 11.4 or newer is needed"));
  unsetenv("SIMULATED_NVML");
  EXPECT_EQ(Nvml::Open(NEREID_SIMULATED_NVML).status(),
            absl::FailedPreconditionError("GPUs are not measured because NVIDIA's management "
                                          "library does not start: Driver Not Loaded"));
}

}  // namespace
}  // namespace nereid
