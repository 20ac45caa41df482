// SPDX-License-Identifier: Apache-2.0
#include "device/ipc_regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "device/memory_pool.h"
#include "device/testing/ipc_peer_process.h"
#include "device/testing/simulated_gpus.h"

namespace {

// The next allocation of this many bytes by this thread fails; 0: none does.
thread_local size_t failing_size = 0;

}  // namespace

void* operator new(size_t size) {
  if (failing_size != 0 && size == failing_size) {
    failing_size = 0;
    throw std::bad_alloc();
  }
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace nereid {
namespace {

class IpcRegionsTest : public SimulatedGpus {
 protected:
  void SetUp() override {
    SimulatedGpus::SetUp();
    peer_ = std::make_unique<IpcPeer>(state_file_);
    ASSERT_EQ(peer_->handle.size(), 64u);
  }
  void TearDown() override {
    peer_.reset();
    std::remove(state_file_.c_str());
    SimulatedGpus::TearDown();
  }

  const std::string state_file_ = testing::TempDir() + "ipc_peer_" + std::to_string(getpid());
  std::unique_ptr<IpcPeer> peer_;
};

TEST_F(IpcRegionsTest, TheMemoryOfAnotherProcessIsReadAndWritten) {
  Gpus& gpus = Start();
  Gpu* const gpu = gpus.Get(0);
  const auto pinned = MemoryPool::Pinned(&gpus, 4096);
  char* const here = static_cast<char*>(pinned->Allocate(13).value());
  IpcRegions regions;
  auto region = regions.Open(gpu, peer_->handle).value();
  EXPECT_EQ(region->byte_size(), 1u << 16);
  EXPECT_EQ(region->gpu(), gpu);
  EXPECT_EQ(peer_->offset, 1024u);
  const auto stream = NewStream(gpu);
  const CopyItem from = FromGpu(here, region->base() + peer_->offset, 13);
  ASSERT_TRUE(stream->Copy({&from, 1}).ok());
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_EQ(std::string(here, 13), "from the peer");
  std::memcpy(here, "to the peer !", 13);
  const CopyItem to = ToGpu(region->base() + peer_->offset, here, 13);
  ASSERT_TRUE(stream->Copy({&to, 1}).ok());
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_EQ(peer_->Ask("show"), "to the peer !");
  region.reset();
  EXPECT_EQ(regions.size(), 0u);
  EXPECT_EQ(peer_->End(), 0);
  std::ostringstream state;
  state << std::ifstream(state_file_).rdbuf();
  EXPECT_EQ(state.str(), "alive 0\ncopies 2\nwaits 2\nearly_frees 0\n");
}

TEST_F(IpcRegionsTest, AHandleIsOpenOnceHoweverManyUseIt) {
  Gpu* const gpu = Start().Get(0);
  IpcRegions regions;
  auto first = regions.Open(gpu, peer_->handle).value();
  auto second = regions.Open(gpu, peer_->handle).value();
  EXPECT_EQ(first->base(), second->base());
  EXPECT_EQ(regions.size(), 1u);
  EXPECT_EQ(State().opened_regions, 1u);
  first.reset();
  EXPECT_EQ(State().opened_regions, 1u);
  second.reset();
  EXPECT_EQ(State().opened_regions, 0u);
  ASSERT_TRUE(regions.Open(gpu, peer_->handle).ok()) << "and may be opened again";
}

TEST_F(IpcRegionsTest, WithoutMemoryForTheObjectNothingIsOpen) {
  Gpu* const gpu = Start().Get(0);
  IpcRegions regions;
  failing_size = sizeof(IpcRegion);
  EXPECT_THROW((void)regions.Open(gpu, peer_->handle), std::bad_alloc);
  EXPECT_EQ(failing_size, 0u);
  EXPECT_EQ(regions.size(), 0u);
  EXPECT_EQ(State().opened_regions, 0u);
  EXPECT_TRUE(regions.Open(gpu, peer_->handle).ok());
}

TEST_F(IpcRegionsTest, ThreadsThatOpenAndCloseLeaveNothing) {
  Gpu* const gpu = Start().Get(0);
  IpcRegions regions;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        EXPECT_TRUE(regions.Open(gpu, peer_->handle).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(regions.size(), 0u);
  EXPECT_EQ(State().opened_regions, 0u);
}

TEST_F(IpcRegionsTest, AHandleThatIsNoneIsRefused) {
  Gpu* const gpu = Start().Get(0);
  IpcRegions regions;
  EXPECT_EQ(regions.Open(gpu, peer_->handle.substr(1)).status(),
            absl::InvalidArgumentError(
                "the handle of a region of GPU memory has 63 bytes: it must have 64"));
  EXPECT_EQ(regions.Open(gpu, std::string(64, 'x')).status(),
            absl::InvalidArgumentError("GPU 0 cannot open a region of another process: invalid "
                                       "argument (CUDA_ERROR_INVALID_VALUE)"));
  EXPECT_EQ(peer_->Ask("free"), "freed");
  EXPECT_EQ(regions.Open(gpu, peer_->handle).status().code(), absl::StatusCode::kInvalidArgument);
  peer_->End();
  EXPECT_EQ(regions.Open(gpu, peer_->handle).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(regions.size(), 0u);
}

TEST_F(IpcRegionsTest, AHandleOfThisProcessIsRefused) {
  Gpu* const gpu = Start().Get(0);
  const auto pool = MemoryPool::OnGpu(gpu, 1 << 16);
  char* const bytes = static_cast<char*>(pool->Allocate(1000).value());
  const auto exported = ExportMemory(gpu, bytes + 256);
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(exported->offset, 256u);
  IpcRegions regions;
  const std::string handle(reinterpret_cast<const char*>(exported->handle.bytes), 64);
  EXPECT_EQ(regions.Open(gpu, handle).status(),
            absl::InvalidArgumentError("GPU 0 cannot open a region of another process: invalid "
                                       "device context (CUDA_ERROR_INVALID_CONTEXT)"));
}

TEST_F(IpcRegionsTest, ARegionWhoseSizeIsUnknownIsClosedAgain) {
  Set("SIMULATED_CUDA_FAULTS", "cuMemGetAddressRange_v2:1:1");
  Gpu* const gpu = Start().Get(0);
  IpcRegions regions;
  EXPECT_EQ(regions.Open(gpu, peer_->handle).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(State().opened_regions, 0u);
}

TEST_F(IpcRegionsTest, OnlyMemoryOfTheGpuHasAHandle) {
  Gpu* const gpu = Start().Get(0);
  int local = 0;
  EXPECT_EQ(
      ExportMemory(gpu, &local).status(),
      absl::InvalidArgumentError("GPU 0 cannot make a handle of memory: named symbol not found "
                                 "(CUDA_ERROR_NOT_FOUND)"));
}

}  // namespace
}  // namespace nereid
