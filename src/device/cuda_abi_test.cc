// SPDX-License-Identifier: Apache-2.0
// Compares cuda_abi.h with NVIDIA's header, where that is installed: parameters of the same kinds
// and sizes, and the same numbers.
#include "device/cuda_abi.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

namespace nereid::cuda {
namespace {

template <typename T>
constexpr size_t SizeOf() {
  if constexpr (requires { sizeof(T); }) {
    return sizeof(T);
  } else {
    return 0;
  }
}

template <typename A, typename B>
constexpr bool SameShape() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using AtA = std::remove_cv_t<std::remove_pointer_t<A>>;
    using AtB = std::remove_cv_t<std::remove_pointer_t<B>>;
    if constexpr (std::is_void_v<AtA> || std::is_void_v<AtB>) {
      return std::is_same_v<AtA, AtB>;
    } else {
      return SameShape<AtA, AtB>();
    }
  } else {
    return SizeOf<A>() == SizeOf<B>() && std::is_class_v<A> == std::is_class_v<B> &&
           std::is_pointer_v<A> == std::is_pointer_v<B> &&
           std::is_floating_point_v<A> == std::is_floating_point_v<B>;
  }
}

template <typename A, typename B>
struct SameFunction : std::false_type {};
template <typename A, typename... ParametersA, typename B, typename... ParametersB>
  requires(sizeof...(ParametersA) == sizeof...(ParametersB))
struct SameFunction<A (*)(ParametersA...), B (*)(ParametersB...)>
    : std::bool_constant<SameShape<A, B>() && (SameShape<ParametersA, ParametersB>() && ...)> {};

TEST(CudaAbiTest, FunctionsHaveTheseParameters) {
#define COMPARE(name, symbol, parameters) \
  EXPECT_TRUE((SameFunction<decltype(Functions::name), decltype(&::symbol)>::value)) << #name;
  NEREID_CUDA_FUNCTIONS(COMPARE)
#undef COMPARE
}

TEST(CudaAbiTest, NumbersAreThese) {
  EXPECT_EQ(kSuccess, CUDA_SUCCESS);
  EXPECT_EQ(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(kNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(kNoDevice, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
  EXPECT_EQ(kNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
  EXPECT_EQ(kInvalidHandle, CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(kNotFound, CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(kNotReady, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_EQ(kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(kAssert, CUDA_ERROR_ASSERT);
  EXPECT_EQ(kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
  EXPECT_EQ(kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_EQ(kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
  EXPECT_EQ(kInvalidPc, CUDA_ERROR_INVALID_PC);
  EXPECT_EQ(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(kSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
  EXPECT_EQ(kCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(kCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
  EXPECT_EQ(kEventBlockingSync, CU_EVENT_BLOCKING_SYNC);
  EXPECT_EQ(kHostAllocPortable, static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE));
  EXPECT_EQ(kIpcLazyPeerAccess, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  EXPECT_EQ(kBlockPinned, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_EQ(kLocationDevice, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(kGranularityMinimum, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  EXPECT_EQ(kReadWrite, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

TEST(CudaAbiTest, StructuresAreLaidOutLikeThis) {
  EXPECT_EQ(offsetof(BlockKind, type), offsetof(CUmemAllocationProp, type));
  EXPECT_EQ(offsetof(BlockKind, location), offsetof(CUmemAllocationProp, location));
  EXPECT_EQ(offsetof(BlockKind, flags), offsetof(CUmemAllocationProp, allocFlags));
  EXPECT_EQ(offsetof(BlockAccess, location), offsetof(CUmemAccessDesc, location));
  EXPECT_EQ(offsetof(BlockAccess, access), offsetof(CUmemAccessDesc, flags));
  EXPECT_EQ(offsetof(Location, id), offsetof(CUmemLocation, id));
}

}  // namespace
}  // namespace nereid::cuda
