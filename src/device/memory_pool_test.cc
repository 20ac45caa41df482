// SPDX-License-Identifier: Apache-2.0
#include "device/memory_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "device/testing/simulated_gpus.h"

namespace nereid {
namespace {

class MemoryPoolTest : public SimulatedGpus {};

TEST_F(MemoryPoolTest, IsOneBlockThatIsTakenWhenNeeded) {
  Gpu* const gpu = Start().Get(0);
  const auto pool = MemoryPool::OnGpu(gpu, 1 << 20);
  EXPECT_FALSE(gpu->has_context());
  EXPECT_EQ(pool->byte_size(), 1u << 20);
  char* const first = static_cast<char*>(pool->Allocate(1000).value());
  char* const second = static_cast<char*>(pool->Allocate(1).value());
  EXPECT_EQ(second - first, 1024);
  EXPECT_EQ(pool->used(), 1280u);
  EXPECT_EQ(State().device_blocks, 1u);
  EXPECT_EQ(State().device_bytes, 1u << 20);
  EXPECT_TRUE(pool->Free(first).ok());
  EXPECT_TRUE(pool->Free(second).ok());
  EXPECT_EQ(pool->used(), 0u);
  EXPECT_EQ(State().device_blocks, 1u) << "the block stays";
}

TEST_F(MemoryPoolTest, SaysHowMuchRoomThereIs) {
  const auto pool = MemoryPool::OnGpu(Start().Get(0), 4096);
  void* const first = pool->Allocate(1024).value();
  ASSERT_TRUE(pool->Allocate(2048).ok());
  ASSERT_TRUE(pool->Free(first).ok());
  EXPECT_EQ(
      pool->Allocate(2000).status(),
      absl::UnavailableError("the memory pool of GPU 0 has no room for 2000 bytes: 2048 of its "
                             "4096 bytes are free, 1024 of them in one piece"));
}

TEST_F(MemoryPoolTest, OnlyWhatWasAllocatedIsFreedAndOnce) {
  const auto pool = MemoryPool::OnGpu(Start().Get(0), 4096);
  EXPECT_EQ(pool->Free(nullptr).code(), absl::StatusCode::kInvalidArgument);
  char* const bytes = static_cast<char*>(pool->Allocate(1024).value());
  EXPECT_EQ(pool->Free(bytes + 256).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(pool->Free(bytes - 256).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(pool->Free(bytes).ok());
  const absl::Status status = pool->Free(bytes);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              testing::MatchesRegex("the address 0x[0-9a-f]+ was not allocated in the memory pool "
                                    "of GPU 0 or has been freed already"));
}

TEST_F(MemoryPoolTest, OfNoBytesIsSwitchedOff) {
  Gpus& gpus = Start();
  EXPECT_EQ(MemoryPool::Pinned(&gpus, 0)->Allocate(1).status(),
            absl::UnavailableError(
                "the pinned memory pool is switched off: its size is 0 in the server's options"));
  EXPECT_FALSE(gpus.Get(0)->has_context());
}

TEST_F(MemoryPoolTest, ABlockThatCannotBeTakenIsTriedAgain) {
  Set("SIMULATED_CUDA_FAULTS", "cuMemAlloc_v2:1:2");
  const auto pool = MemoryPool::OnGpu(Start().Get(0), 4096);
  EXPECT_EQ(pool->Allocate(1).status(),
            absl::UnavailableError("GPU 0 cannot give 4096 bytes for the memory pool of GPU 0: out "
                                   "of memory (CUDA_ERROR_OUT_OF_MEMORY)"));
  EXPECT_EQ(pool->used(), 0u);
  EXPECT_TRUE(pool->Allocate(1).ok());
}

TEST_F(MemoryPoolTest, ThatIsLargerThanTheGpuIsNotMade) {
  Set("SIMULATED_CUDA_MB", "1");
  const auto pool = MemoryPool::OnGpu(Start().Get(0), (1 << 20) + 1);
  EXPECT_EQ(pool->Allocate(1).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(MemoryPoolTest, PinnedMemoryIsOfTheHost) {
  Set("SIMULATED_CUDA_GPUS", "2");
  Gpus& gpus = Start();
  ASSERT_TRUE(gpus.Get(1)->ReadMemory().ok());
  const auto pool = MemoryPool::Pinned(&gpus, 1 << 16);
  char* const bytes = static_cast<char*>(pool->Allocate(1 << 16).value());
  std::memset(bytes, 'x', 1 << 16);
  EXPECT_EQ(bytes[(1 << 16) - 1], 'x');
  EXPECT_EQ(State().host_blocks, 1u);
  EXPECT_FALSE(gpus.Get(0)->has_context()) << "the context that there is suffices";
}

TEST_F(MemoryPoolTest, PinnedMemoryNeedsAGpuThatWorks) {
  Set("SIMULATED_CUDA_FAULTS", "cuMemGetInfo_v2:1:700");
  Gpus& gpus = Start();
  ASSERT_FALSE(gpus.Get(0)->ReadMemory().ok());
  const auto pool = MemoryPool::Pinned(&gpus, 4096);
  EXPECT_EQ(pool->Allocate(1).status(),
            absl::UnavailableError("the pinned memory pool cannot be made: no GPU works"));
}

TEST_F(MemoryPoolTest, OfAGpuThatFailsGoesWithItsContext) {
  Set("SIMULATED_CUDA_FAULTS", "cuMemGetInfo_v2:1:700");
  Gpu* const gpu = Start().Get(0);
  const auto pool = MemoryPool::OnGpu(gpu, 4096);
  void* const bytes = pool->Allocate(1).value();
  ASSERT_FALSE(gpu->ReadMemory().ok());
  EXPECT_TRUE(pool->Free(bytes).ok());
  EXPECT_EQ(State().device_blocks, 1u);
}

}  // namespace
}  // namespace nereid
