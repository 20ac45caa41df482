// SPDX-License-Identifier: Apache-2.0
// What src/device takes for granted of the driver. The same program runs against the simulated
// driver, which it then shows to be like the real one in this, and against a real one:
//
//   NEREID_CUDA_LIBRARY=libcuda.so.1 driver_contract_test
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "device/cuda_abi.h"
#include "device/driver.h"

namespace nereid {
namespace {

using cuda::kSuccess;

constexpr size_t kSize = 4 << 20;

class DriverContractTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* library = std::getenv("NEREID_CUDA_LIBRARY");
    auto driver = CudaDriver::Open(library == nullptr ? NEREID_SIMULATED_CUDA : library);
    if (!driver.ok()) GTEST_SKIP() << driver.status();
    driver_ = *std::move(driver);
    call = driver_->functions();
    ASSERT_EQ(call.DeviceGet(&device_, 0), kSuccess);
    ASSERT_EQ(call.PrimaryCtxRetain(&context_, device_), kSuccess);
    ASSERT_EQ(call.CtxPushCurrent(context_), kSuccess);
    ASSERT_EQ(call.MemAlloc(&there_, kSize), kSuccess);
    ASSERT_EQ(call.MemHostAlloc(&pinned_, kSize, cuda::kHostAllocPortable), kSuccess);
    here_ = static_cast<char*>(pinned_);
    ASSERT_EQ(call.StreamCreate(&stream_, cuda::kStreamNonBlocking, 0), kSuccess);
    ASSERT_EQ(call.EventCreate(&event_, cuda::kEventBlockingSync), kSuccess);
  }
  void TearDown() override {
    if (context_ == nullptr) return;
    EXPECT_EQ(call.StreamSynchronize(stream_), kSuccess);
    EXPECT_EQ(call.EventDestroy(event_), kSuccess);
    EXPECT_EQ(call.StreamDestroy(stream_), kSuccess);
    EXPECT_EQ(call.MemFreeHost(pinned_), kSuccess);
    EXPECT_EQ(call.MemFree(there_), kSuccess);
    cuda::Context popped = nullptr;
    EXPECT_EQ(call.CtxPopCurrent(&popped), kSuccess);
    EXPECT_EQ(popped, context_);
    EXPECT_EQ(call.PrimaryCtxRelease(device_), kSuccess);
  }
  cuda::Pointer Here(size_t offset = 0) const {
    return reinterpret_cast<cuda::Pointer>(here_ + offset);
  }

  cuda::Functions call;
  std::unique_ptr<CudaDriver> driver_;
  cuda::Device device_ = 0;
  cuda::Context context_ = nullptr;
  cuda::Pointer there_ = 0;
  void* pinned_ = nullptr;
  char* here_ = nullptr;
  cuda::Stream stream_ = nullptr;
  cuda::Event event_ = nullptr;
};

TEST_F(DriverContractTest, NumbersOfErrorsHaveTheseNames) {
  const struct {
    cuda::Result result;
    const char* name;
  } rows[] = {
      {cuda::kSuccess, "SUCCESS"},
      {cuda::kInvalidValue, "ERROR_INVALID_VALUE"},
      {cuda::kOutOfMemory, "ERROR_OUT_OF_MEMORY"},
      {cuda::kNotInitialized, "ERROR_NOT_INITIALIZED"},
      {cuda::kNoDevice, "ERROR_NO_DEVICE"},
      {cuda::kInvalidDevice, "ERROR_INVALID_DEVICE"},
      {cuda::kInvalidContext, "ERROR_INVALID_CONTEXT"},
      {cuda::kEccUncorrectable, "ERROR_ECC_UNCORRECTABLE"},
      {cuda::kNvlinkUncorrectable, "ERROR_NVLINK_UNCORRECTABLE"},
      {cuda::kInvalidHandle, "ERROR_INVALID_HANDLE"},
      {cuda::kNotFound, "ERROR_NOT_FOUND"},
      {cuda::kNotReady, "ERROR_NOT_READY"},
      {cuda::kIllegalAddress, "ERROR_ILLEGAL_ADDRESS"},
      {cuda::kLaunchTimeout, "ERROR_LAUNCH_TIMEOUT"},
      {cuda::kContextIsDestroyed, "ERROR_CONTEXT_IS_DESTROYED"},
      {cuda::kAssert, "ERROR_ASSERT"},
      {cuda::kHardwareStackError, "ERROR_HARDWARE_STACK_ERROR"},
      {cuda::kIllegalInstruction, "ERROR_ILLEGAL_INSTRUCTION"},
      {cuda::kMisalignedAddress, "ERROR_MISALIGNED_ADDRESS"},
      {cuda::kInvalidAddressSpace, "ERROR_INVALID_ADDRESS_SPACE"},
      {cuda::kInvalidPc, "ERROR_INVALID_PC"},
      {cuda::kLaunchFailed, "ERROR_LAUNCH_FAILED"},
      {cuda::kSystemDriverMismatch, "ERROR_SYSTEM_DRIVER_MISMATCH"},
  };
  for (const auto& row : rows) {
    const char* name = nullptr;
    EXPECT_EQ(call.GetErrorName(row.result, &name), kSuccess);
    EXPECT_EQ(std::string(name), std::string("CUDA_") + row.name);
  }
  const char* name = "";
  EXPECT_NE(call.GetErrorName(98765, &name), kSuccess);
}

TEST_F(DriverContractTest, APrimaryContextIsOneAndIsCounted) {
  cuda::Context again = nullptr;
  ASSERT_EQ(call.PrimaryCtxRetain(&again, device_), kSuccess);
  EXPECT_EQ(again, context_);
  ASSERT_EQ(call.PrimaryCtxRelease(device_), kSuccess);
  size_t free = 0, total = 0;
  EXPECT_EQ(call.MemGetInfo(&free, &total), kSuccess) << "one is left";
}

TEST_F(DriverContractTest, WithoutAContextNothingIsAllocated) {
  cuda::Context popped = nullptr;
  ASSERT_EQ(call.CtxPopCurrent(&popped), kSuccess);
  cuda::Pointer address = 0;
  EXPECT_EQ(call.MemAlloc(&address, 256), cuda::kInvalidContext);
  EXPECT_EQ(call.CtxPopCurrent(&popped), cuda::kInvalidContext);
  ASSERT_EQ(call.CtxPushCurrent(context_), kSuccess);
}

TEST_F(DriverContractTest, AnAllocationIsAlignedAndKnowsItsRange) {
  EXPECT_EQ(there_ % 256, 0u);
  cuda::Pointer base = 0;
  size_t byte_size = 0;
  ASSERT_EQ(call.MemGetAddressRange(&base, &byte_size, there_ + 12345), kSuccess);
  EXPECT_EQ(base, there_);
  EXPECT_EQ(byte_size, kSize);
  int local = 0;
  const auto stack = reinterpret_cast<cuda::Pointer>(&local);
  EXPECT_EQ(call.MemGetAddressRange(&base, &byte_size, stack), cuda::kNotFound);
}

TEST_F(DriverContractTest, TooMuchMemoryIsRefusedAndNothingBreaks) {
  size_t free = 0, total = 0, byte_size = 0;
  ASSERT_EQ(call.MemGetInfo(&free, &total), kSuccess);
  ASSERT_EQ(call.DeviceTotalMem(&byte_size, device_), kSuccess);
  EXPECT_LE(total, byte_size);
  EXPECT_LE(free, total - kSize);
  cuda::Pointer address = 0;
  EXPECT_EQ(call.MemAlloc(&address, 2 * total), cuda::kOutOfMemory);
  EXPECT_EQ(call.MemAlloc(&address, 0), cuda::kInvalidValue);
  ASSERT_EQ(call.MemAlloc(&address, 256), kSuccess);
  EXPECT_EQ(call.MemFree(address), kSuccess);
  EXPECT_EQ(call.MemFree(address), cuda::kInvalidValue) << "freed already";
}

TEST_F(DriverContractTest, CopiesOfAStreamComeInOrder) {
  std::memset(here_, 'a', kSize / 2);
  std::memset(here_ + kSize / 2, 'b', kSize / 2);
  const size_t half = kSize / 2;
  ASSERT_EQ(call.MemcpyAsync(there_, Here(), half, stream_), kSuccess);
  ASSERT_EQ(call.MemcpyAsync(there_ + half, there_, half, stream_), kSuccess);
  ASSERT_EQ(call.MemcpyAsync(Here(half), there_ + half, half, stream_), kSuccess);
  ASSERT_EQ(call.StreamSynchronize(stream_), kSuccess);
  EXPECT_EQ(call.StreamQuery(stream_), kSuccess);
  EXPECT_EQ(std::string(here_, kSize), std::string(kSize, 'a'));
}

TEST_F(DriverContractTest, OrdinaryMemoryMayBeReusedAfterTheCall) {
  std::string in(kSize, 'a'), out(kSize, '-');
  ASSERT_EQ(call.MemcpyAsync(there_, reinterpret_cast<cuda::Pointer>(in.data()), kSize, stream_),
            kSuccess);
  in.assign(kSize, 'b');
  ASSERT_EQ(call.MemcpyAsync(reinterpret_cast<cuda::Pointer>(out.data()), there_, kSize, stream_),
            kSuccess);
  EXPECT_EQ(out, std::string(kSize, 'a'));
}

TEST_F(DriverContractTest, AStreamWaitsForAnEventOfAnother) {
  cuda::Stream other = nullptr;
  int least = 0, greatest = 0;
  ASSERT_EQ(call.CtxGetStreamPriorityRange(&least, &greatest), kSuccess);
  EXPECT_LE(greatest, least);
  ASSERT_EQ(call.StreamCreate(&other, cuda::kStreamNonBlocking, greatest), kSuccess);
  EXPECT_EQ(call.EventQuery(event_), kSuccess) << "nothing is recorded";
  EXPECT_EQ(call.EventSynchronize(event_), kSuccess);
  std::memset(here_, 'a', kSize / 2);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(call.MemcpyAsync(there_, Here(), kSize / 2, stream_), kSuccess);
  }
  ASSERT_EQ(call.EventRecord(event_, stream_), kSuccess);
  ASSERT_EQ(call.StreamWaitEvent(other, event_, 0), kSuccess);
  ASSERT_EQ(call.MemcpyAsync(Here(kSize / 2), there_, kSize / 2, other), kSuccess);
  ASSERT_EQ(call.StreamSynchronize(other), kSuccess);
  EXPECT_EQ(call.EventQuery(event_), kSuccess);
  EXPECT_EQ(std::string(here_ + kSize / 2, kSize / 2), std::string(kSize / 2, 'a'));
  EXPECT_EQ(call.StreamDestroy(other), kSuccess);
}

TEST_F(DriverContractTest, TimeIsBetweenEventsThatHaveBeenRecorded) {
  cuda::Event start = nullptr;
  float milliseconds = -1;
  ASSERT_EQ(call.EventCreate(&start, cuda::kEventBlockingSync), kSuccess);
  EXPECT_EQ(call.EventElapsedTime(&milliseconds, start, event_), cuda::kInvalidHandle);
  ASSERT_EQ(call.EventRecord(start, stream_), kSuccess);
  ASSERT_EQ(call.MemcpyAsync(there_, Here(), kSize, stream_), kSuccess);
  ASSERT_EQ(call.EventRecord(event_, stream_), kSuccess);
  ASSERT_EQ(call.EventSynchronize(event_), kSuccess);
  ASSERT_EQ(call.EventElapsedTime(&milliseconds, start, event_), kSuccess);
  EXPECT_GT(milliseconds, 0);
  EXPECT_EQ(call.EventDestroy(start), kSuccess);
}

TEST_F(DriverContractTest, MemoryIsPutBehindReservedAddresses) {
  cuda::BlockKind kind = {};
  kind.type = cuda::kBlockPinned;
  kind.location = {cuda::kLocationDevice, device_};
  size_t size = 0;
  ASSERT_EQ(call.MemGetAllocationGranularity(&size, &kind, cuda::kGranularityMinimum), kSuccess);
  ASSERT_GT(size, 0u);
  cuda::Pointer base = 0;
  ASSERT_EQ(call.MemAddressReserve(&base, 4 * size, 0, 0, 0), kSuccess);
  const cuda::BlockAccess access = {{cuda::kLocationDevice, device_}, cuda::kReadWrite};
  cuda::MemoryBlock blocks[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(call.MemCreate(&blocks[i], size, &kind, 0), kSuccess);
    ASSERT_EQ(call.MemMap(base + i * size, size, 0, blocks[i], 0), kSuccess);
    ASSERT_EQ(call.MemSetAccess(base + i * size, size, &access, 1), kSuccess);
  }
  EXPECT_NE(call.MemMap(base, size, 0, blocks[0], 0), kSuccess) << "there is memory already";
  // Across the two blocks, and back.
  std::memcpy(here_, "growing", 7);
  ASSERT_EQ(call.MemcpyAsync(base + size - 3, Here(), 7, stream_), kSuccess);
  ASSERT_EQ(call.MemcpyAsync(Here(100), base + size - 3, 7, stream_), kSuccess);
  ASSERT_EQ(call.StreamSynchronize(stream_), kSuccess);
  EXPECT_EQ(std::memcmp(here_ + 100, "growing", 7), 0);
  // Both at once; the memory can then be put elsewhere.
  EXPECT_EQ(call.MemUnmap(base, 2 * size), kSuccess);
  EXPECT_EQ(call.MemMap(base + 2 * size, size, 0, blocks[0], 0), kSuccess);
  EXPECT_EQ(call.MemUnmap(base + 2 * size, size), kSuccess);
  EXPECT_EQ(call.MemAddressFree(base, 4 * size), kSuccess);
  for (const cuda::MemoryBlock block : blocks) EXPECT_EQ(call.MemRelease(block), kSuccess);
}

TEST_F(DriverContractTest, AHandleIsOfAnAllocationAndForOtherProcesses) {
  cuda::IpcHandle handle = {}, again = {}, garbage = {};
  ASSERT_EQ(call.IpcGetMemHandle(&handle, there_), kSuccess);
  ASSERT_EQ(call.IpcGetMemHandle(&again, there_), kSuccess);
  EXPECT_EQ(std::memcmp(handle.bytes, again.bytes, sizeof(handle.bytes)), 0);
  cuda::Pointer opened = 0;
  EXPECT_NE(call.IpcOpenMemHandle(&opened, handle, cuda::kIpcLazyPeerAccess), kSuccess);
  std::memset(garbage.bytes, 'x', sizeof(garbage.bytes));
  const cuda::Result result = call.IpcOpenMemHandle(&opened, garbage, cuda::kIpcLazyPeerAccess);
  EXPECT_NE(result, kSuccess);
  EXPECT_FALSE(IsSticky(result));
  size_t free = 0, total = 0;
  EXPECT_EQ(call.MemGetInfo(&free, &total), kSuccess) << "the context goes on";
}

}  // namespace
}  // namespace nereid
