// SPDX-License-Identifier: Apache-2.0
// The part of NVIDIA's driver interface that the product uses, declared here so that building needs
// neither CUDA's headers nor its libraries. Names, numbers and layouts are the interface's; where
// CUDA's own header is installed, cuda_abi_test compares each of them with it. Plain values.
#ifndef NEREID_DEVICE_CUDA_ABI_H_
#define NEREID_DEVICE_CUDA_ABI_H_

#include <cstddef>
#include <cstdint>

namespace nereid::cuda {

using Result = int;
using Device = int;
using Pointer = unsigned long long;  // an address, of a GPU's memory or of the host's
using Context = struct OpaqueContext*;
using Stream = struct OpaqueStream*;
using Event = struct OpaqueEvent*;

struct Uuid {
  unsigned char bytes[16];
};

struct IpcHandle {
  unsigned char bytes[64];
};

using MemoryBlock = unsigned long long;  // memory without an address

struct Location {
  int type;
  int id;
};

// What kind of memory a block is.
struct BlockKind {
  int type;
  int requested_handles;
  Location location;
  void* windows_attributes;
  unsigned char flags[8];
};

// Who may use memory at an address.
struct BlockAccess {
  Location location;
  int access;
};

inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNotInitialized = 3;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kInvalidDevice = 101;
inline constexpr Result kInvalidContext = 201;
inline constexpr Result kEccUncorrectable = 214;
inline constexpr Result kNvlinkUncorrectable = 220;
inline constexpr Result kInvalidHandle = 400;
inline constexpr Result kNotFound = 500;
inline constexpr Result kNotReady = 600;
inline constexpr Result kIllegalAddress = 700;
inline constexpr Result kLaunchTimeout = 702;
inline constexpr Result kContextIsDestroyed = 709;
inline constexpr Result kAssert = 710;
inline constexpr Result kHardwareStackError = 714;
inline constexpr Result kIllegalInstruction = 715;
inline constexpr Result kMisalignedAddress = 716;
inline constexpr Result kInvalidAddressSpace = 717;
inline constexpr Result kInvalidPc = 718;
inline constexpr Result kLaunchFailed = 719;
inline constexpr Result kSystemDriverMismatch = 803;

// Of DeviceGetAttribute, StreamCreate, EventCreate, MemHostAlloc, IpcOpenMemHandle, and of blocks.
inline constexpr int kCapabilityMajor = 75;
inline constexpr int kCapabilityMinor = 76;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventBlockingSync = 1;
inline constexpr unsigned kHostAllocPortable = 1;
inline constexpr unsigned kIpcLazyPeerAccess = 1;
inline constexpr int kBlockPinned = 1;
inline constexpr int kLocationDevice = 1;
inline constexpr int kGranularityMinimum = 0;
inline constexpr int kReadWrite = 3;

// NEREID_CUDA_FUNCTIONS(F) is F(name here, exported symbol, parameters) for each function; all
// return a Result. All have been in the driver since CUDA 11.4.
#define NEREID_CUDA_FUNCTIONS(F)                                                                 \
  F(Init, cuInit, (unsigned flags))                                                              \
  F(DriverGetVersion, cuDriverGetVersion, (int* version))                                        \
  F(GetErrorName, cuGetErrorName, (Result result, const char** name))                            \
  F(GetErrorString, cuGetErrorString, (Result result, const char** text))                        \
  F(DeviceGetCount, cuDeviceGetCount, (int* count))                                              \
  F(DeviceGet, cuDeviceGet, (Device * device, int ordinal))                                      \
  F(DeviceGetName, cuDeviceGetName, (char* name, int size, Device device))                       \
  F(DeviceGetUuid, cuDeviceGetUuid_v2, (Uuid * uuid, Device device))                             \
  F(DeviceGetAttribute, cuDeviceGetAttribute, (int* value, int attribute, Device device))        \
  F(DeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, Device device))                        \
  F(DeviceGetPciBusId, cuDeviceGetPCIBusId, (char* id, int size, Device device))                 \
  F(PrimaryCtxRetain, cuDevicePrimaryCtxRetain, (Context * context, Device device))              \
  F(PrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (Device device))                            \
  F(CtxPushCurrent, cuCtxPushCurrent_v2, (Context context))                                      \
  F(CtxPopCurrent, cuCtxPopCurrent_v2, (Context * context))                                      \
  F(CtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, (int* least, int* greatest))         \
  F(MemAlloc, cuMemAlloc_v2, (Pointer * address, size_t bytes))                                  \
  F(MemFree, cuMemFree_v2, (Pointer address))                                                    \
  F(MemGetInfo, cuMemGetInfo_v2, (size_t * free, size_t * total))                                \
  F(MemGetAddressRange, cuMemGetAddressRange_v2,                                                 \
    (Pointer * base, size_t * bytes, Pointer address))                                           \
  F(MemHostAlloc, cuMemHostAlloc, (void** address, size_t bytes, unsigned flags))                \
  F(MemFreeHost, cuMemFreeHost, (void* address))                                                 \
  F(MemGetAllocationGranularity, cuMemGetAllocationGranularity,                                  \
    (size_t * bytes, const BlockKind* kind, int option))                                         \
  F(MemCreate, cuMemCreate,                                                                      \
    (MemoryBlock * block, size_t bytes, const BlockKind* kind, unsigned long long flags))        \
  F(MemRelease, cuMemRelease, (MemoryBlock block))                                               \
  F(MemAddressReserve, cuMemAddressReserve,                                                      \
    (Pointer * address, size_t bytes, size_t alignment, Pointer wish, unsigned long long flags)) \
  F(MemAddressFree, cuMemAddressFree, (Pointer address, size_t bytes))                           \
  F(MemMap, cuMemMap,                                                                            \
    (Pointer address, size_t bytes, size_t offset, MemoryBlock block, unsigned long long flags)) \
  F(MemUnmap, cuMemUnmap, (Pointer address, size_t bytes))                                       \
  F(MemSetAccess, cuMemSetAccess,                                                                \
    (Pointer address, size_t bytes, const BlockAccess* access, size_t count))                    \
  F(MemcpyAsync, cuMemcpyAsync, (Pointer to, Pointer from, size_t bytes, Stream stream))         \
  F(StreamCreate, cuStreamCreateWithPriority, (Stream * stream, unsigned flags, int priority))   \
  F(StreamDestroy, cuStreamDestroy_v2, (Stream stream))                                          \
  F(StreamSynchronize, cuStreamSynchronize, (Stream stream))                                     \
  F(StreamQuery, cuStreamQuery, (Stream stream))                                                 \
  F(StreamWaitEvent, cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))            \
  F(EventCreate, cuEventCreate, (Event * event, unsigned flags))                                 \
  F(EventDestroy, cuEventDestroy_v2, (Event event))                                              \
  F(EventRecord, cuEventRecord, (Event event, Stream stream))                                    \
  F(EventSynchronize, cuEventSynchronize, (Event event))                                         \
  F(EventQuery, cuEventQuery, (Event event))                                                     \
  F(EventElapsedTime, cuEventElapsedTime, (float* milliseconds, Event start, Event end))         \
  F(IpcGetMemHandle, cuIpcGetMemHandle, (IpcHandle * handle, Pointer address))                   \
  F(IpcOpenMemHandle, cuIpcOpenMemHandle_v2,                                                     \
    (Pointer * address, IpcHandle handle, unsigned flags))                                       \
  F(IpcCloseMemHandle, cuIpcCloseMemHandle, (Pointer address))

#define NEREID_CUDA_MEMBER(name, symbol, parameters) Result(*name) parameters = nullptr;
struct Functions {
  NEREID_CUDA_FUNCTIONS(NEREID_CUDA_MEMBER)
};
#undef NEREID_CUDA_MEMBER

inline Pointer AddressOf(const void* pointer) { return reinterpret_cast<Pointer>(pointer); }

}  // namespace nereid::cuda

#endif  // NEREID_DEVICE_CUDA_ABI_H_
