// SPDX-License-Identifier: Apache-2.0
// The simulated libcudart.so.12, for Triton, which is built on CUDA's runtime library: the
// functions that its server calls at the start and for CUDA shared memory, done by the simulated
// driver. The product itself knows the driver only.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "device/cuda_abi.h"

using namespace nereid::cuda;  // NOLINT: the functions below have C names

#define NEREID_DECLARE(name, symbol, parameters) extern "C" Result symbol parameters;
NEREID_CUDA_FUNCTIONS(NEREID_DECLARE)
#undef NEREID_DECLARE

namespace {

constexpr Result kNotSupported = 801;

// What the runtime library writes about a GPU, as far as Triton reads it.
struct Properties {
  char name[256];
  Uuid uuid;
  char luid[8];
  unsigned luid_mask;
  size_t total_bytes;
  size_t shared_bytes;
  int registers, warp_size;
  size_t pitch;
  int threads, dimensions[3], grid[3], clock;
  size_t constant_bytes;
  int major, minor;
  char rest[664];
};
static_assert(offsetof(Properties, total_bytes) == 288);
static_assert(offsetof(Properties, major) == 360);
static_assert(sizeof(Properties) == 1032);

thread_local int current = 0;

std::mutex mu;                    // guards `contexts`
std::map<int, Context> contexts;  // retained by this library, to the end of the process

// The GPU of that number. Starts the driver, as each function of the runtime library does.
Result Find(int gpu, Device* device) {
  static const Result started = cuInit(0);
  return started != kSuccess ? started : cuDeviceGet(device, gpu);
}

// Calls `function` with the context of the thread's GPU.
template <typename Function>
Result OnGpu(Function function) {
  Context context = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mu);
    auto& kept = contexts[current];
    Device device = 0;
    Result result = Find(current, &device);
    if (result == kSuccess && kept == nullptr) result = cuDevicePrimaryCtxRetain(&kept, device);
    if (result != kSuccess) return result;
    context = kept;
  }
  Result result = cuCtxPushCurrent_v2(context);
  if (result != kSuccess) return result;
  result = function();
  cuCtxPopCurrent_v2(&context);
  return result;
}

Result Copy(void* to, const void* from, size_t bytes, Stream stream, bool wait) {
  return OnGpu([&] {
    const Result result = cuMemcpyAsync(AddressOf(to), AddressOf(from), bytes, stream);
    return result == kSuccess && wait ? cuStreamSynchronize(stream) : result;
  });
}

// The real function finds a context on the thread, where the runtime library has left its own.
Result AddressRange(Pointer* base, size_t* bytes, Pointer address) {
  return OnGpu([&] { return cuMemGetAddressRange_v2(base, bytes, address); });
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

// ---- GPUs

EXPORTED Result cudaGetDeviceCount(int* count) {
  *count = 0;
  Device first = 0;
  const Result result = Find(0, &first);
  return result == kInvalidDevice ? kNoDevice
         : result != kSuccess     ? result
                                  : cuDeviceGetCount(count);
}

EXPORTED Result cudaGetDeviceProperties_v2(Properties* properties, int gpu) {
  std::memset(properties, 0, sizeof(*properties));
  Device device = 0;
  const Result result = Find(gpu, &device);
  if (result != kSuccess) return result;
  cuDeviceGetName(properties->name, sizeof(properties->name), device);
  cuDeviceGetUuid_v2(&properties->uuid, device);
  cuDeviceTotalMem_v2(&properties->total_bytes, device);
  cuDeviceGetAttribute(&properties->major, kCapabilityMajor, device);
  return cuDeviceGetAttribute(&properties->minor, kCapabilityMinor, device);
}

EXPORTED Result cudaDeviceGetPCIBusId(char* id, int size, int gpu) {
  Device device = 0;
  const Result result = Find(gpu, &device);
  return result != kSuccess ? result : cuDeviceGetPCIBusId(id, size, device);
}

EXPORTED Result cudaSetDevice(int gpu) {
  Device device = 0;
  const Result result = Find(gpu, &device);
  if (result == kSuccess) current = gpu;
  return result;
}

EXPORTED Result cudaGetDevice(int* gpu) {
  *gpu = current;
  return kSuccess;
}

EXPORTED Result cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return kSuccess;
}

EXPORTED Result cudaDeviceEnablePeerAccess(int, unsigned) { return kNotSupported; }

EXPORTED Result cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return OnGpu([&] { return cuCtxGetStreamPriorityRange(least, greatest); });
}

EXPORTED const char* cudaGetErrorString(Result result) {
  const char* text = nullptr;
  return cuGetErrorString(result, &text) == kSuccess ? text : "unrecognized error code";
}

// ---- Memory

EXPORTED Result cudaMalloc(void** address, size_t bytes) {
  Pointer allocated = 0;
  const Result result = OnGpu([&] { return cuMemAlloc_v2(&allocated, bytes); });
  *address = reinterpret_cast<void*>(allocated);
  return result;
}

EXPORTED Result cudaFree(void* address) {
  if (address == nullptr) return kSuccess;
  return OnGpu([&] { return cuMemFree_v2(AddressOf(address)); });
}

EXPORTED Result cudaHostAlloc(void** address, size_t bytes, unsigned) {
  return OnGpu([&] { return cuMemHostAlloc(address, bytes, kHostAllocPortable); });
}

EXPORTED Result cudaFreeHost(void* address) {
  return OnGpu([&] { return cuMemFreeHost(address); });
}

EXPORTED Result cudaMemGetInfo(size_t* free, size_t* total) {
  return OnGpu([&] { return cuMemGetInfo_v2(free, total); });
}

EXPORTED Result cudaMallocManaged(void**, size_t, unsigned) { return kNotSupported; }
EXPORTED Result cudaMemPrefetchAsync(const void*, size_t, int, Stream) { return kNotSupported; }
EXPORTED Result cudaMemset(void*, int, size_t) { return kNotSupported; }

EXPORTED Result cudaIpcOpenMemHandle(void** address, IpcHandle handle, unsigned flags) {
  Pointer opened = 0;
  const Result result = OnGpu([&] { return cuIpcOpenMemHandle_v2(&opened, handle, flags); });
  *address = reinterpret_cast<void*>(opened);
  return result;
}

EXPORTED Result cudaIpcCloseMemHandle(void* address) {
  return OnGpu([&] { return cuIpcCloseMemHandle(AddressOf(address)); });
}

EXPORTED Result cudaGetDriverEntryPoint(const char* name, void** function, uint64_t, int* status) {
  *function = nullptr;
  if (std::strcmp(name, "cuMemGetAddressRange") == 0) {
    *function = reinterpret_cast<void*>(&AddressRange);
  } else if (std::strcmp(name, "cuGetErrorString") == 0) {
    *function = reinterpret_cast<void*>(&cuGetErrorString);
  }
  if (status != nullptr) *status = *function == nullptr ? 1 : 0;
  return kSuccess;
}

// ---- Copies and streams

EXPORTED Result cudaMemcpy(void* to, const void* from, size_t bytes, int) {
  return Copy(to, from, bytes, nullptr, true);
}

EXPORTED Result cudaMemcpyAsync(void* to, const void* from, size_t bytes, int, Stream stream) {
  return Copy(to, from, bytes, stream, false);
}

EXPORTED Result cudaStreamCreate(Stream* stream) {
  return OnGpu([&] { return cuStreamCreateWithPriority(stream, kStreamNonBlocking, 0); });
}

EXPORTED Result cudaStreamDestroy(Stream stream) {
  return OnGpu([&] { return cuStreamDestroy_v2(stream); });
}

EXPORTED Result cudaStreamSynchronize(Stream stream) {
  return OnGpu([&] { return cuStreamSynchronize(stream); });
}

EXPORTED Result cudaStreamGetFlags(Stream, unsigned*) { return kNotSupported; }
EXPORTED Result cudaLaunchHostFunc(Stream, void (*)(void*), void*) { return kNotSupported; }
