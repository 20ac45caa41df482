// SPDX-License-Identifier: Apache-2.0
#include "device/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/testing/simulated_gpus.h"

namespace nereid {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DevicesTest : public SimulatedGpus {
 protected:
  static std::unique_ptr<Devices> Find(DeviceOptions options = {}) {
    return Devices::Find(std::move(options), NEREID_SIMULATED_CUDA);
  }
};

TEST_F(DevicesTest, WithoutADriverThereIsNothingAndNothingToSay) {
  for (const auto& devices :
       {Devices::Find({}, "libnereid_there_is_no_such_driver.so.1"), Devices::Find({}, "")}) {
    EXPECT_THAT(devices->used(), IsEmpty());
    EXPECT_THAT(devices->Describe(), IsEmpty());
    EXPECT_EQ(devices->pinned_pool(), nullptr);
    EXPECT_EQ(devices->gpu_pool(0), nullptr);
    EXPECT_EQ(devices->Get(0), nullptr);
  }
  EXPECT_TRUE(Devices::Find({}, "libnereid_there_is_no_such_driver.so.1")->fault().ok());
  EXPECT_THAT(Devices::None()->used(), IsEmpty());
  EXPECT_TRUE(Devices::None()->fault().ok());
}

TEST_F(DevicesTest, SaysWhatIsWrongWithADriver) {
  Set("SIMULATED_CUDA_INIT", "100");
  EXPECT_TRUE(Find()->fault().ok()) << "a driver may be installed where there is no GPU";
  Set("SIMULATED_CUDA_INIT", "803");
  EXPECT_EQ(Find()->fault().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Find()->used(), IsEmpty());
}

TEST_F(DevicesTest, AllGpusAreUsedAndNamedWithoutAContext) {
  Set("SIMULATED_CUDA_GPUS", "2");
  const auto devices = Find();
  EXPECT_THAT(devices->used(), ElementsAre(0, 1));
  EXPECT_EQ(devices->Get(1)->info().id, 1);
  EXPECT_EQ(devices->Get(2), nullptr);
  EXPECT_EQ(devices->Get(-1), nullptr);
  EXPECT_THAT(devices->Describe(),
              ElementsAre(testing::MatchesRegex("GPU 0 is used: .*, GPU-00000000-.*, compute "
                                                "capability 9.0, 1024 MiB"),
                          testing::StartsWith("GPU 1 is used: ")));
  EXPECT_EQ(State().contexts, 0u);
}

TEST_F(DevicesTest, OldGpusAreNotUsed) {
  Set("SIMULATED_CUDA_CAPABILITY", "8.6");
  DeviceOptions options;
  options.min_compute_capability = 8.6;
  EXPECT_THAT(Find(options)->used(), ElementsAre(0)) << "equal is enough";
  options.min_compute_capability = 8.7;
  const auto devices = Find(options);
  EXPECT_THAT(devices->used(), IsEmpty());
  EXPECT_EQ(devices->Get(0), nullptr);
  EXPECT_EQ(devices->pinned_pool(), nullptr);
  EXPECT_THAT(devices->Describe(),
              ElementsAre(testing::MatchesRegex(
                  "GPU 0 \\(.*\\) is not used: its compute capability is 8.6, and "
                  "--min-supported-compute-capability is 8.7")));
  Set("SIMULATED_CUDA_CAPABILITY", "5.2");
  EXPECT_THAT(Find()->used(), IsEmpty()) << "the default is 6.0";
}

TEST_F(DevicesTest, PoolsHaveTheSizesOfTheOptions) {
  Set("SIMULATED_CUDA_GPUS", "3");
  DeviceOptions options;
  options.gpu_pool_bytes = {{1, 4096}, {2, 0}, {9, 5}};
  options.pinned_pool_bytes = 8192;
  const auto devices = Find(options);
  EXPECT_EQ(devices->gpu_pool(0)->byte_size(), DeviceOptions::kGpuPoolBytes);
  EXPECT_EQ(devices->gpu_pool(1)->byte_size(), 4096u);
  EXPECT_EQ(devices->gpu_pool(2)->byte_size(), 0u);
  EXPECT_EQ(devices->gpu_pool(9), nullptr);
  EXPECT_EQ(devices->pinned_pool()->byte_size(), 8192u);
  EXPECT_EQ(Find()->pinned_pool()->byte_size(), DeviceOptions::kPinnedPoolBytes);
  EXPECT_EQ(State().device_blocks + State().host_blocks, 0u) << "taken when first needed";
  EXPECT_TRUE(devices->gpu_pool(1)->Allocate(4096).ok());
  EXPECT_EQ(State().device_bytes, 4096u);
}

TEST_F(DevicesTest, CopiesAreDoneWhenTheyReturn) {
  Set("SIMULATED_CUDA_GPUS", "2");
  const auto devices = Find();
  void* const first = *devices->gpu_pool(0)->Allocate(8);
  void* const second = *devices->gpu_pool(1)->Allocate(8);
  const MemoryPlace host, gpu0{MemoryType::kGpu, 0}, gpu1{MemoryType::kGpu, 1};
  char text[] = "12345678";
  EXPECT_EQ(devices->Copy({{first, gpu0, text, host, 8}, {second, gpu1, text, host, 8}}),
            absl::OkStatus());
  char found[] = "........";
  EXPECT_EQ(devices->Copy({{found, host, second, gpu1, 8}}), absl::OkStatus());
  EXPECT_STREQ(found, text);
  EXPECT_EQ(devices->Copy({}), absl::OkStatus());
  EXPECT_EQ(State().streams, 2u) << "one of each GPU, which is used again";
}

TEST_F(DevicesTest, CopiesThatCannotBeSaySo) {
  const auto devices = Find();
  char text[] = "1234";
  const MemoryPlace host;
  EXPECT_EQ(
      devices->Copy({{text, host, text, {MemoryType::kGpu, 3}, 4}}),
      absl::InvalidArgumentError("memory of GPU 3 cannot be copied: this server uses no such GPU"));
  EXPECT_EQ(devices->OpenRegion(3, std::string(64, 'h')).status(),
            absl::InvalidArgumentError("this server uses no GPU 3, but these: 0"));
  EXPECT_EQ(devices->OpenRegion(0, std::string(64, 'h')).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Devices::None()->OpenRegion(0, "").status(),
            absl::InvalidArgumentError("this server uses no GPU 0"));
}

TEST_F(DevicesTest, TheLoadLimitLooksAtWhatIsInUse) {
  Set("SIMULATED_CUDA_GPUS", "2");
  Set("SIMULATED_CUDA_MB", "100");
  DeviceOptions options;
  options.load_limits = {{0, 0.3}};
  options.gpu_pool_bytes = {{0, 40 << 20}, {1, 40 << 20}};
  const auto devices = Find(options);
  EXPECT_TRUE(devices->CheckLoadLimit(0, "m_0").ok());
  ASSERT_TRUE(devices->gpu_pool(0)->Allocate(1).ok());
  ASSERT_TRUE(devices->gpu_pool(1)->Allocate(1).ok());
  EXPECT_EQ(devices->CheckLoadLimit(0, "m_0"),
            absl::UnavailableError("can not create model 'm_0': memory limit set for GPU 0 has "
                                   "exceeded, model loading is rejected."));
  EXPECT_TRUE(devices->CheckLoadLimit(1, "m_0").ok()) << "without a limit";
  EXPECT_TRUE(devices->CheckLoadLimit(7, "m_0").ok());
}

}  // namespace
}  // namespace nereid
