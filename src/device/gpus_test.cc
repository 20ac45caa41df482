// SPDX-License-Identifier: Apache-2.0
#include "device/gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "device/testing/simulated_gpus.h"

namespace nereid {
namespace {

using testing::HasSubstr;

cuda::Result Nothing(const cuda::Functions&) { return cuda::kSuccess; }

class GpusTest : public SimulatedGpus {};

TEST(GpusWithoutDriverTest, AreNone) {
  const auto gpus = Gpus::Find("libnereid_there_is_no_such_driver.so.1");
  EXPECT_EQ(gpus->size(), 0u);
  EXPECT_EQ(gpus->Get(0), nullptr);
  EXPECT_EQ(gpus->AnyHealthy(), nullptr);
  EXPECT_EQ(gpus->driver_version(), 0);
  EXPECT_EQ(gpus->absence().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(gpus->absence().message(),
            "no GPU is used because there is no libnereid_there_is_no_such_driver.so.1: NVIDIA's "
            "driver would bring it");
}

TEST(GpusWithoutDriverTest, ALibraryThatIsNoDriverIsNamedWithWhatItLacks) {
  const auto gpus = Gpus::Find("libm.so.6");
  EXPECT_EQ(gpus->size(), 0u);
  EXPECT_EQ(gpus->absence().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(gpus->absence().message(),
            "no GPU is used because libm.so.6 has no function cuInit: a driver for CUDA 11.4 or "
            "newer is needed");
}

TEST(GpusWithoutDriverTest, AFileThatIsNoLibraryIsAnError) {
  const auto gpus = Gpus::Find("/proc/self/cmdline");
  EXPECT_EQ(gpus->absence().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(gpus->absence().message(), HasSubstr("NVIDIA's driver cannot be loaded: "));
}

TEST_F(GpusTest, AreListedWithoutAContext) {
  Set("SIMULATED_CUDA_GPUS", "3");
  Set("SIMULATED_CUDA_MB", "64");
  Set("SIMULATED_CUDA_CAPABILITY", "8.6");
  Gpus& gpus = Start();
  ASSERT_EQ(gpus.size(), 3u);
  EXPECT_TRUE(gpus.absence().ok());
  EXPECT_EQ(gpus.driver_version(), 13000);
  const GpuInfo& info = gpus.Get(2)->info();
  EXPECT_EQ(info.id, 2);
  EXPECT_EQ(info.name, "Simulated GPU");
  EXPECT_EQ(info.uuid, "GPU-00000002-2425-2627-2829-2a2b2c2d2e2f");
  EXPECT_EQ(info.pci_bus_id, "0000:3d:00.0");
  EXPECT_EQ(info.capability_major, 8);
  EXPECT_EQ(info.capability_minor, 6);
  EXPECT_EQ(info.total_bytes, 64u << 20);
  EXPECT_EQ(gpus.Get(3), nullptr);
  EXPECT_EQ(gpus.Get(-1), nullptr);
  EXPECT_EQ(State().contexts, 0u);
}

TEST_F(GpusTest, AreThoseThatTheDriverShows) {
  Set("SIMULATED_CUDA_GPUS", "4");
  Set("CUDA_VISIBLE_DEVICES", "3,GPU-00000001,9,0");
  Gpus& gpus = Start();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus.Get(0)->info().pci_bus_id, "0000:3e:00.0");
  EXPECT_EQ(gpus.Get(1)->info().pci_bus_id, "0000:3c:00.0");
}

TEST_F(GpusTest, ADriverWithoutGpusIsAsGoodAsNone) {
  Set("CUDA_VISIBLE_DEVICES", "");
  Gpus& gpus = Start();
  EXPECT_EQ(gpus.size(), 0u);
  EXPECT_EQ(gpus.absence().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(gpus.absence().message(), "no GPU is used because NVIDIA's driver finds none");
}

TEST_F(GpusTest, ADriverThatDoesNotStartSaysWhy) {
  Set("SIMULATED_CUDA_INIT", "803");
  EXPECT_EQ(Start().absence(),
            absl::FailedPreconditionError(
                "no GPU is used because NVIDIA's driver does not start: system has unsupported "
                "display driver / cuda driver combination (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)"));
  Set("SIMULATED_CUDA_INIT", "4321");
  EXPECT_EQ(Start().absence(),
            absl::FailedPreconditionError(
                "no GPU is used because NVIDIA's driver does not start: the driver's error 4321"));
}

TEST_F(GpusTest, AGpuThatCannotBeDescribedLeavesNone) {
  Set("SIMULATED_CUDA_GPUS", "2");
  Set("SIMULATED_CUDA_FAULTS", "cuDeviceGetUuid_v2:2:101");
  Gpus& gpus = Start();
  EXPECT_EQ(gpus.size(), 0u);
  EXPECT_EQ(gpus.absence(),
            absl::FailedPreconditionError("no GPU is used because GPU 1 cannot be described: "
                                          "invalid device ordinal (CUDA_ERROR_INVALID_DEVICE)"));
}

TEST_F(GpusTest, AContextIsMadeOnceAndWhenItIsNeeded) {
  Set("SIMULATED_CUDA_GPUS", "2");
  Gpus& gpus = Start();
  Gpu* const gpu = gpus.Get(1);
  EXPECT_FALSE(gpu->has_context());
  EXPECT_EQ(gpus.AnyHealthy(), gpus.Get(0));
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { good += gpu->Call("do nothing", Nothing).ok(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
  EXPECT_TRUE(gpu->has_context());
  EXPECT_FALSE(gpus.Get(0)->has_context());
  EXPECT_EQ(State().contexts, 1u);
  EXPECT_EQ(gpus.AnyHealthy(), gpu);
}

TEST_F(GpusTest, ACallLeavesTheContextOfTheThread) {
  Set("SIMULATED_CUDA_GPUS", "2");
  Gpus& gpus = Start();
  const absl::Status status = gpus.Get(0)->Call("look", [&](const cuda::Functions& outer) {
    EXPECT_TRUE(gpus.Get(1)->Call("look", Nothing).ok());
    cuda::Context context = nullptr;
    EXPECT_EQ(outer.CtxPopCurrent(&context), cuda::kSuccess);
    EXPECT_EQ(outer.CtxPushCurrent(context), cuda::kSuccess);
    size_t free = 0, total = 0;
    EXPECT_EQ(outer.MemGetInfo(&free, &total), cuda::kSuccess);
    return cuda::kSuccess;
  });
  EXPECT_TRUE(status.ok()) << status;
  // And none where there was none.
  gpus.Get(0)->Release([&](const cuda::Functions& call) {
    cuda::Context own = nullptr, none = nullptr;
    EXPECT_EQ(call.CtxPopCurrent(&own), cuda::kSuccess);
    EXPECT_EQ(call.CtxPopCurrent(&none), cuda::kInvalidContext);
    return call.CtxPushCurrent(own);
  });
}

TEST_F(GpusTest, AContextThatCannotBeMadeIsTriedAgain) {
  Set("SIMULATED_CUDA_FAULTS", "cuDevicePrimaryCtxRetain:1:2");
  Gpu* const gpu = Start().Get(0);
  EXPECT_EQ(gpu->Call("do nothing", Nothing),
            absl::UnavailableError(
                "GPU 0 cannot make a context: out of memory (CUDA_ERROR_OUT_OF_MEMORY)"));
  EXPECT_TRUE(gpu->Call("do nothing", Nothing).ok());
}

TEST_F(GpusTest, MemoryIsWhatTheDriverSays) {
  Set("SIMULATED_CUDA_MB", "32");
  const auto memory = Start().Get(0)->ReadMemory();
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->total, 32u << 20);
  EXPECT_EQ(memory->free, 32u << 20);
}

TEST_F(GpusTest, AnErrorThatEndsTheContextStays) {
  Set("SIMULATED_CUDA_GPUS", "2");
  Set("SIMULATED_CUDA_FAULTS", "cuMemGetInfo_v2:2:719");
  Gpus& gpus = Start();
  Gpu* const gpu = gpus.Get(0);
  EXPECT_TRUE(gpu->ReadMemory().ok());
  EXPECT_TRUE(gpu->failure().ok());
  const absl::Status failure = absl::UnavailableError(
      "GPU 0 (GPU-00000000-0405-0607-0809-0a0b0c0d0e0f) has failed and needs a new start of the "
      "server: unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)");
  testing::internal::CaptureStderr();
  EXPECT_EQ(gpu->CallLocked("look",
                            [](const cuda::Functions& call) {
                              size_t free = 0, total = 0;
                              return call.MemGetInfo(&free, &total);
                            }),
            failure);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(gpu->failure(), failure);
  testing::internal::CaptureStderr();
  EXPECT_EQ(gpu->ReadMemory().status(), failure);
  gpu->LogFailure();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("GPU 0 (GPU-00000000-0405-0607-0809-0a0b0c0d0e0f) has failed"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << "once";
  const uint64_t calls = State().calls;
  EXPECT_EQ(gpu->Call("do nothing", Nothing), failure);
  EXPECT_EQ(State().calls, calls) << "a failed GPU is not asked again";
  // The other goes on.
  EXPECT_TRUE(gpus.Get(1)->ReadMemory().ok());
  EXPECT_EQ(gpus.AnyHealthy(), gpus.Get(1));
}

TEST(StickyTest, AreThoseThatEndAContext) {
  for (const cuda::Result result : {214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719}) {
    EXPECT_TRUE(IsSticky(result)) << result;
  }
  for (const cuda::Result result : {0, 1, 2, 3, 100, 101, 201, 400, 500, 600, 701, 803}) {
    EXPECT_FALSE(IsSticky(result)) << result;
  }
}

}  // namespace
}  // namespace nereid
