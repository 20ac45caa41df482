// SPDX-License-Identifier: Apache-2.0
#include "device/growable_memory.h"

#include <gtest/gtest.h>

#include <string>

#include "device/copier.h"
#include "device/devices.h"
#include "device/testing/simulated_gpus.h"

namespace nereid {
namespace {

constexpr size_t kBlock = 2 << 20;  // of the simulated driver

class GrowableMemoryTest : public SimulatedGpus {
 protected:
  void Find(DeviceOptions options = {}) {
    devices_ = Devices::Find(std::move(options), NEREID_SIMULATED_CUDA);
  }
  void TearDown() override {
    devices_.reset();
    SimulatedGpus::TearDown();
  }
  std::unique_ptr<GrowableMemory> Make(int64_t gpu = 0) {
    auto memory = devices_->MakeGrowable(gpu);
    EXPECT_TRUE(memory.ok()) << memory.status();
    return *std::move(memory);
  }
  absl::Status Write(char* there, const std::string& bytes) {
    return devices_->Copy({{there, kGpu, bytes.data(), {}, bytes.size()}});
  }
  std::string Read(const char* there, size_t size) {
    std::string bytes(size, '.');
    EXPECT_TRUE(devices_->Copy({{bytes.data(), {}, there, kGpu, size}}).ok());
    return bytes;
  }

  static constexpr MemoryPlace kGpu = {MemoryType::kGpu, 0};
  std::unique_ptr<Devices> devices_;
};

TEST_F(GrowableMemoryTest, KeepsItsAddressAndBytesWhileItGrows) {
  Find();
  const auto memory = Make();
  EXPECT_EQ(State().memory_blocks, 0u) << "addresses cost no memory";
  char* const base = memory->base();
  EXPECT_FALSE(Write(base, "x").ok()) << "there is nothing yet";
  ASSERT_TRUE(memory->Resize(10).ok());
  EXPECT_EQ(memory->byte_size(), kBlock);
  EXPECT_TRUE(Write(base, "some bytes").ok());
  EXPECT_FALSE(Write(base + kBlock, "x").ok());
  ASSERT_TRUE(memory->Resize(2 * kBlock + 1).ok());
  EXPECT_EQ(memory->base(), base);
  EXPECT_EQ(memory->byte_size(), 3 * kBlock);
  EXPECT_EQ(Read(base, 10), "some bytes");
  EXPECT_TRUE(Write(base + kBlock - 2, "over the edge").ok());
  EXPECT_EQ(Read(base + kBlock - 2, 13), "over the edge");
  ASSERT_TRUE(memory->Resize(1).ok());
  EXPECT_EQ(memory->byte_size(), 3 * kBlock) << "it does not shrink";
}

TEST_F(GrowableMemoryTest, BlocksAreUsedAgain) {
  Find();
  ASSERT_TRUE(Make()->Resize(2 * kBlock).ok());
  EXPECT_EQ(State().reservations, 0u);
  EXPECT_EQ(State().memory_blocks, 2u);
  const auto memory = Make();
  ASSERT_TRUE(memory->Resize(3 * kBlock).ok());
  EXPECT_EQ(State().memory_blocks, 3u);
}

TEST_F(GrowableMemoryTest, NoMoreThanTheReservedAddresses) {
  DeviceOptions options;
  options.address_bytes[0] = kBlock + 1;
  Find(options);
  const auto memory = Make();
  EXPECT_TRUE(memory->Resize(kBlock + 1).ok());
  EXPECT_EQ(
      memory->Resize(kBlock + 2),
      absl::InvalidArgumentError("memory of GPU 0 cannot grow to 2097154 bytes where it is: "
                                 "--cuda-virtual-address-size reserves addresses for 2097153"));
}

TEST_F(GrowableMemoryTest, WithoutAddressesThereIsNoRoom) {
  DeviceOptions options;
  options.address_bytes[0] = 0;
  Find(options);
  const auto memory = Make();
  EXPECT_TRUE(memory->Resize(0).ok());
  EXPECT_FALSE(memory->Resize(1).ok());
}

TEST_F(GrowableMemoryTest, OnlyOnGpusInUse) {
  Find();
  EXPECT_EQ(devices_->MakeGrowable(1).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(GrowableMemoryTest, AFullGpuIsAnErrorThatChangesNothing) {
  Set("SIMULATED_CUDA_MB", "5");
  Find();
  const auto memory = Make();
  ASSERT_TRUE(memory->Resize(kBlock).ok());
  EXPECT_TRUE(Write(memory->base(), "kept").ok());
  EXPECT_EQ(memory->Resize(3 * kBlock).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Read(memory->base(), 4), "kept");
  EXPECT_TRUE(memory->Resize(2 * kBlock).ok());
}

TEST_F(GrowableMemoryTest, ErrorsOfTheDriverLeaveNothingBehind) {
  for (const std::string function : {"cuMemGetAllocationGranularity", "cuMemAddressReserve",
                                     "cuMemCreate", "cuMemMap", "cuMemSetAccess"}) {
    for (const std::string result : {"2", "719"}) {
      Set("SIMULATED_CUDA_FAULTS", function + ":1:" + result);
      Find();
      auto memory = devices_->MakeGrowable(0);
      absl::Status status = memory.status();
      if (status.ok()) status = (*memory)->Resize(kBlock);
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << function << " " << status;
      if (memory.ok() && result == "2") {
        EXPECT_TRUE((*memory)->Resize(kBlock).ok()) << function;
      }
      memory = absl::UnknownError("");
      TearDown();
    }
  }
}

}  // namespace
}  // namespace nereid
