// SPDX-License-Identifier: Apache-2.0
// The functions of the simulated libcuda.so.1: what each checks, and what it answers.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "device/cuda_abi.h"
#include "tests/support/simulated_cuda/memory.h"
#include "tests/support/simulated_cuda/settings.h"
#include "tests/support/simulated_cuda/state.h"
#include "tests/support/simulated_cuda/work.h"

namespace nereid::simulated_cuda {
namespace {

using cuda::Result;

struct GpuState {
  int contexts = 0;  // how often the primary context is retained
  Result failure = cuda::kSuccess;
};

// The state of the driver. Lives to the end of the process, because threads may call until then.
struct Simulator {
  std::mutex mu;  // guards all of it
  bool is_initialized = false;
  Settings settings;
  std::vector<GpuState> devices;
  Memory memory;
  std::unique_ptr<WorkQueues> work;
  std::map<std::string, uint64_t> calls;
  uint64_t all_calls = 0;
  uint64_t waits = 0;
  uint64_t early_frees = 0;
};

Simulator& Sim() {
  static Simulator* const simulator = new Simulator;
  return *simulator;
}

constexpr int kDepth = 16;
thread_local int current[kDepth];  // the devices of the contexts that are current on this thread
thread_local int depth = 0;

// `device`: -1 if the call is for none.
Result FaultOf(Simulator& sim, const std::string& function, int device) {
  if (sim.settings.faults.empty()) return cuda::kSuccess;
  Result result = cuda::kSuccess;
  for (const std::string& name : {function, function + "@" + std::to_string(device)}) {
    const uint64_t nth = ++sim.calls[name];
    for (const Fault& fault : sim.settings.faults) {
      if (fault.function == name && fault.nth == nth) result = fault.result;
    }
  }
  return result;
}

bool EndsContext(Result result) {
  return result == cuda::kEccUncorrectable || (result >= cuda::kIllegalAddress && result < 720);
}

// A call under the lock. `result` is what there is to say before the function does anything.
class Call {
 public:
  enum class Needs { kNothing, kInit, kContext };

  Call(const char* function, Needs needs) : sim(Sim()), lock_(sim.mu) {
    ++sim.all_calls;
    if (needs != Needs::kNothing && !sim.is_initialized) {
      result = cuda::kNotInitialized;
    } else if (needs == Needs::kContext && depth == 0) {
      result = cuda::kInvalidContext;
    } else if (needs == Needs::kContext && device().failure != cuda::kSuccess) {
      result = device().failure;
    } else {
      result = FaultOf(sim, function, depth == 0 ? -1 : number());
      if (needs == Needs::kContext && EndsContext(result)) device().failure = result;
    }
  }
  int number() const { return current[depth - 1]; }
  GpuState& device() { return sim.devices[static_cast<size_t>(number())]; }

  Simulator& sim;
  Result result;

 private:
  std::lock_guard<std::mutex> lock_;
};

// As long as the test wants, without the lock: others go on meanwhile.
void TakeTime() {
  Simulator& sim = Sim();
  std::unique_lock<std::mutex> lock(sim.mu);
  if (sim.settings.wait_us == 0) return;
  std::condition_variable nobody;
  nobody.wait_for(lock, std::chrono::microseconds(sim.settings.wait_us), [] { return false; });
}

bool NothingLives(const Simulator& sim) {
  for (const GpuState& device : sim.devices) {
    if (device.contexts > 0) return false;
  }
  return sim.memory.empty();
}

void Start(Simulator& sim) {
  sim.settings = ReadSettings();
  sim.devices.assign(sim.settings.visible.size(), GpuState());
  sim.calls.clear();
  sim.all_calls = sim.waits = sim.early_frees = 0;
  const auto has_failed = [&sim](int number) {
    return sim.devices[static_cast<size_t>(number)].failure != cuda::kSuccess;
  };
  const auto on_copy = [&sim, has_failed](int number) {
    if (has_failed(number)) return false;
    sim.devices[static_cast<size_t>(number)].failure = FaultOf(sim, "copy", number);
    return !has_failed(number);
  };
  sim.work = std::make_unique<WorkQueues>(sim.settings.seed, on_copy, has_failed);
}

SimulatedCudaState Read(Simulator& sim) {
  SimulatedCudaState state = {};
  for (const GpuState& device : sim.devices) state.contexts += device.contexts > 0;
  state.device_blocks = sim.memory.Count(Kind::kDevice);
  for (size_t i = 0; i < sim.devices.size(); ++i) {
    state.device_bytes += sim.memory.BytesOn(static_cast<int>(i));
  }
  state.host_blocks = sim.memory.Count(Kind::kPinned);
  state.opened_regions = sim.memory.Count(Kind::kOpened);
  state.reservations = sim.memory.Count(Kind::kReserved);
  state.memory_blocks = sim.memory.physical();
  if (sim.work != nullptr) {
    state.streams = sim.work->streams();
    state.events = sim.work->events();
    state.waiting_copies = sim.work->waiting_copies();
    state.copies = sim.work->copies();
  }
  state.calls = sim.all_calls;
  state.waits = sim.waits;
  state.early_frees = sim.early_frees;
  return state;
}

// For the test that started the process: at its end and, since servers end at once, also whenever
// the last context goes.
__attribute__((destructor)) void WriteState() {
  const char* path = std::getenv("SIMULATED_CUDA_STATE");
  if (path == nullptr) return;
  std::FILE* file = std::fopen(path, "we");
  if (file == nullptr) return;
  const SimulatedCudaState state = Read(Sim());
  const auto alive = state.contexts + state.device_blocks + state.host_blocks +
                     state.opened_regions + state.reservations + state.memory_blocks +
                     state.streams + state.events + state.waiting_copies;
  std::fprintf(file, "alive %llu\ncopies %llu\nwaits %llu\nearly_frees %llu\n",
               static_cast<unsigned long long>(alive),
               static_cast<unsigned long long>(state.copies),
               static_cast<unsigned long long>(state.waits),
               static_cast<unsigned long long>(state.early_frees));
  std::fclose(file);
}

struct Named {
  Result result;
  const char* name;
  const char* text;
};
constexpr Named kNames[] = {
    {cuda::kSuccess, "CUDA_SUCCESS", "no error"},
    {cuda::kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {cuda::kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {cuda::kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {cuda::kNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {cuda::kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {cuda::kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {cuda::kEccUncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE",
     "uncorrectable ECC error encountered"},
    {cuda::kNvlinkUncorrectable, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "uncorrectable NVLink error"},
    {cuda::kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {cuda::kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {cuda::kNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {cuda::kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {cuda::kLaunchTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out"},
    {cuda::kContextIsDestroyed, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {cuda::kAssert, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {cuda::kHardwareStackError, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
    {cuda::kIllegalInstruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "illegal instruction"},
    {cuda::kMisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {cuda::kInvalidAddressSpace, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "invalid address space"},
    {cuda::kInvalidPc, "CUDA_ERROR_INVALID_PC", "invalid program counter"},
    {cuda::kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {cuda::kSystemDriverMismatch, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
};

const Named* NameOf(Result result) {
  for (const Named& named : kNames) {
    if (named.result == result) return &named;
  }
  return nullptr;
}

// The number of the machine's GPU behind the process's; -1 if there is none.
int MachineNumber(const Simulator& sim, cuda::Device device) {
  const bool exists = device >= 0 && device < static_cast<int>(sim.settings.visible.size());
  return exists ? sim.settings.visible[static_cast<size_t>(device)] : -1;
}

cuda::Context ContextOf(int device) {
  return reinterpret_cast<cuda::Context>(static_cast<uintptr_t>(device) + 1);
}

bool IsOnGpu(const Call& call, const cuda::BlockKind& kind) {
  return kind.type == cuda::kBlockPinned && kind.location.type == cuda::kLocationDevice &&
         MachineNumber(call.sim, kind.location.id) >= 0 && kind.requested_handles == 0;
}

Result Free(Call& call, uintptr_t address, Kind kind) {
  Block* const block = call.sim.memory.Find(address, kind);
  if (block == nullptr) return cuda::kInvalidValue;
  if (kind == Kind::kOpened && --block->opens > 0) return cuda::kSuccess;
  if (call.sim.work->DoEverything(address)) ++call.sim.early_frees;
  call.sim.memory.Free(block);
  return cuda::kSuccess;
}

}  // namespace
}  // namespace nereid::simulated_cuda

using namespace nereid::simulated_cuda;  // NOLINT: the functions below have C names
using namespace nereid::cuda;            // NOLINT: and the driver's types
using Needs = Call::Needs;

#define EXPORTED extern "C" __attribute__((visibility("default")))
// Begins a function: answers at once what there is to say, and leaves `call`.
#define ENTER(function, needs)        \
  Call call(#function, Needs::needs); \
  if (call.result != kSuccess) return call.result

EXPORTED Result cuInit(unsigned flags) {
  ENTER(cuInit, kNothing);
  if (!call.sim.is_initialized || NothingLives(call.sim)) Start(call.sim);
  if (flags != 0) return kInvalidValue;
  if (call.sim.settings.init_result != kSuccess) return call.sim.settings.init_result;
  if (call.sim.devices.empty()) return kNoDevice;
  call.sim.is_initialized = true;
  return kSuccess;
}

EXPORTED Result cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}

EXPORTED Result cuGetErrorName(Result result, const char** name) {
  const Named* named = NameOf(result);
  *name = named == nullptr ? nullptr : named->name;
  return named == nullptr ? kInvalidValue : kSuccess;
}

EXPORTED Result cuGetErrorString(Result result, const char** text) {
  const Named* named = NameOf(result);
  *text = named == nullptr ? nullptr : named->text;
  return named == nullptr ? kInvalidValue : kSuccess;
}

EXPORTED Result cuDeviceGetCount(int* count) {
  ENTER(cuDeviceGetCount, kInit);
  *count = static_cast<int>(call.sim.devices.size());
  return kSuccess;
}

EXPORTED Result cuDeviceGet(Device* device, int ordinal) {
  ENTER(cuDeviceGet, kInit);
  if (MachineNumber(call.sim, ordinal) < 0) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

EXPORTED Result cuDeviceGetName(char* name, int size, Device device) {
  ENTER(cuDeviceGetName, kInit);
  if (MachineNumber(call.sim, device) < 0) return kInvalidDevice;
  std::snprintf(name, static_cast<size_t>(size), "Simulated GPU");
  return kSuccess;
}

EXPORTED Result cuDeviceGetUuid_v2(Uuid* uuid, Device device) {
  ENTER(cuDeviceGetUuid_v2, kInit);
  const int number = MachineNumber(call.sim, device);
  if (number < 0) return kInvalidDevice;
  *uuid = UuidOf(number);
  return kSuccess;
}

EXPORTED Result cuDeviceGetAttribute(int* value, int attribute, Device device) {
  ENTER(cuDeviceGetAttribute, kInit);
  if (MachineNumber(call.sim, device) < 0) return kInvalidDevice;
  if (attribute == kCapabilityMajor) {
    *value = call.sim.settings.capability_major;
  } else if (attribute == kCapabilityMinor) {
    *value = call.sim.settings.capability_minor;
  } else {
    return kInvalidValue;
  }
  return kSuccess;
}

EXPORTED Result cuDeviceTotalMem_v2(size_t* bytes, Device device) {
  ENTER(cuDeviceTotalMem_v2, kInit);
  if (MachineNumber(call.sim, device) < 0) return kInvalidDevice;
  *bytes = call.sim.settings.bytes_per_gpu;
  return kSuccess;
}

EXPORTED Result cuDeviceGetPCIBusId(char* id, int size, Device device) {
  ENTER(cuDeviceGetPCIBusId, kInit);
  const int number = MachineNumber(call.sim, device);
  if (number < 0) return kInvalidDevice;
  std::snprintf(id, static_cast<size_t>(size), "%s", BusIdOf(number).c_str());
  return kSuccess;
}

EXPORTED Result cuDevicePrimaryCtxRetain(Context* context, Device device) {
  ENTER(cuDevicePrimaryCtxRetain, kInit);
  if (MachineNumber(call.sim, device) < 0) return kInvalidDevice;
  ++call.sim.devices[static_cast<size_t>(device)].contexts;
  *context = ContextOf(device);
  return kSuccess;
}

EXPORTED Result cuDevicePrimaryCtxRelease_v2(Device device) {
  ENTER(cuDevicePrimaryCtxRelease_v2, kInit);
  if (MachineNumber(call.sim, device) < 0) return kInvalidDevice;
  GpuState& state = call.sim.devices[static_cast<size_t>(device)];
  if (state.contexts == 0) return kInvalidContext;
  if (--state.contexts == 0) {
    call.sim.work->DoEverything(0);
    // A context that has failed lets nobody free what it holds; it all goes with it.
    if (state.failure != kSuccess) call.sim.memory.FreeAllOf(device);
    if (Read(call.sim).contexts == 0) WriteState();
  }
  return kSuccess;
}

EXPORTED Result cuCtxPushCurrent_v2(Context context) {
  ENTER(cuCtxPushCurrent_v2, kInit);
  const int device = static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1;
  const bool exists = MachineNumber(call.sim, device) >= 0;
  if (!exists || call.sim.devices[static_cast<size_t>(device)].contexts == 0 || depth == kDepth) {
    return kInvalidContext;
  }
  current[depth++] = device;
  return kSuccess;
}

EXPORTED Result cuCtxPopCurrent_v2(Context* context) {
  ENTER(cuCtxPopCurrent_v2, kInit);
  if (depth == 0) return kInvalidContext;
  *context = ContextOf(current[--depth]);
  return kSuccess;
}

EXPORTED Result cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  ENTER(cuCtxGetStreamPriorityRange, kContext);
  *least = 0;
  *greatest = -5;
  return kSuccess;
}

EXPORTED Result cuMemAlloc_v2(Pointer* address, size_t bytes) {
  ENTER(cuMemAlloc_v2, kContext);
  if (bytes == 0) return kInvalidValue;
  const size_t used = call.sim.memory.BytesOn(call.number());
  if (bytes > call.sim.settings.bytes_per_gpu - used) return kOutOfMemory;
  const Block* block = call.sim.memory.AllocateDevice(call.number(), bytes);
  if (block == nullptr) return kOutOfMemory;
  *address = block->address;
  return kSuccess;
}

EXPORTED Result cuMemFree_v2(Pointer address) {
  ENTER(cuMemFree_v2, kContext);
  return Free(call, address, Kind::kDevice);
}

EXPORTED Result cuMemGetInfo_v2(size_t* free, size_t* total) {
  ENTER(cuMemGetInfo_v2, kContext);
  *total = call.sim.settings.bytes_per_gpu;
  *free = *total - call.sim.memory.BytesOn(call.number());
  return kSuccess;
}

EXPORTED Result cuMemGetAddressRange_v2(Pointer* base, size_t* bytes, Pointer address) {
  ENTER(cuMemGetAddressRange_v2, kContext);
  const Block* block = call.sim.memory.Holding(address);
  if (block == nullptr) return kNotFound;
  if (base != nullptr) *base = block->address;
  if (bytes != nullptr) *bytes = block->size;
  return kSuccess;
}

EXPORTED Result cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  ENTER(cuMemHostAlloc, kContext);
  if (bytes == 0) return kInvalidValue;
  const Block* block = call.sim.memory.AllocatePinned(call.number(), bytes);
  if (block == nullptr) return kOutOfMemory;
  *address = block->bytes;
  return kSuccess;
}

EXPORTED Result cuMemFreeHost(void* address) {
  ENTER(cuMemFreeHost, kContext);
  return Free(call, reinterpret_cast<uintptr_t>(address), Kind::kPinned);
}

EXPORTED Result cuMemGetAllocationGranularity(size_t* bytes, const BlockKind* kind, int option) {
  ENTER(cuMemGetAllocationGranularity, kContext);
  if (!IsOnGpu(call, *kind) || option != kGranularityMinimum) return kInvalidValue;
  *bytes = Memory::kGranularity;
  return kSuccess;
}

EXPORTED Result cuMemCreate(MemoryBlock* block, size_t bytes, const BlockKind* kind,
                            unsigned long long flags) {
  ENTER(cuMemCreate, kContext);
  const bool good = IsOnGpu(call, *kind) && flags == 0 && bytes > 0;
  if (!good || bytes % Memory::kGranularity != 0) return kInvalidValue;
  const size_t used = call.sim.memory.BytesOn(kind->location.id);
  if (bytes > call.sim.settings.bytes_per_gpu - used) return kOutOfMemory;
  *block = call.sim.memory.Create(kind->location.id, bytes);
  return *block == 0 ? kOutOfMemory : kSuccess;
}

EXPORTED Result cuMemRelease(MemoryBlock block) {
  ENTER(cuMemRelease, kContext);
  return call.sim.memory.Release(block);
}

EXPORTED Result cuMemAddressReserve(Pointer* address, size_t bytes, size_t alignment, Pointer wish,
                                    unsigned long long flags) {
  ENTER(cuMemAddressReserve, kContext);
  const bool good = bytes > 0 && bytes % Memory::kGranularity == 0;
  if (!good || alignment != 0 || wish != 0 || flags != 0) return kInvalidValue;
  const Block* block = call.sim.memory.Reserve(call.number(), bytes);
  if (block == nullptr) return kOutOfMemory;
  *address = block->address;
  return kSuccess;
}

EXPORTED Result cuMemAddressFree(Pointer address, size_t bytes) {
  ENTER(cuMemAddressFree, kContext);
  const Block* block = call.sim.memory.Find(address, Kind::kReserved);
  if (block == nullptr || block->size != bytes || !block->mappings.empty()) return kInvalidValue;
  return Free(call, address, Kind::kReserved);
}

EXPORTED Result cuMemMap(Pointer address, size_t bytes, size_t offset, MemoryBlock block,
                         unsigned long long flags) {
  ENTER(cuMemMap, kContext);
  if (offset != 0 || flags != 0) return kInvalidValue;
  return call.sim.memory.Map(address, bytes, block);
}

EXPORTED Result cuMemUnmap(Pointer address, size_t bytes) {
  ENTER(cuMemUnmap, kContext);
  const Block* block = call.sim.memory.Holding(address);
  if (block != nullptr && call.sim.work->DoEverything(block->address)) ++call.sim.early_frees;
  return call.sim.memory.Unmap(address, bytes);
}

EXPORTED Result cuMemSetAccess(Pointer address, size_t bytes, const BlockAccess* access,
                               size_t count) {
  ENTER(cuMemSetAccess, kContext);
  const bool good = count == 1 && access->location.type == kLocationDevice &&
                    access->location.id == call.number() && access->access == kReadWrite;
  return good ? call.sim.memory.MakeUsable(address, bytes) : kInvalidValue;
}

EXPORTED Result cuMemcpyAsync(Pointer to, Pointer from, size_t bytes, Stream stream) {
  ENTER(cuMemcpyAsync, kContext);
  const auto queue = call.sim.work->Find(stream);
  if (queue == nullptr) return kInvalidHandle;
  const Range target = call.sim.memory.Resolve(to, bytes);
  const Range source = call.sim.memory.Resolve(from, bytes);
  if (!target.valid || !source.valid) return kInvalidValue;
  Work work = {.to = target.bytes, .from = source.bytes, .size = bytes};
  if (target.block != nullptr) work.to_block = target.block->address;
  if (source.block != nullptr) {
    work.from_block = source.block->address;
  } else {
    work.staged.assign(source.bytes, source.bytes + bytes);
  }
  // Who reads too early finds this.
  if (target.block != nullptr && target.block->kind == Kind::kPinned) {
    std::memset(target.bytes, 0xA5, bytes);
  }
  call.sim.work->Put(queue, std::move(work));
  if (target.block == nullptr) call.sim.work->DoAll(queue);
  return call.device().failure;
}

EXPORTED Result cuStreamCreateWithPriority(Stream* stream, unsigned flags, int priority) {
  ENTER(cuStreamCreateWithPriority, kContext);
  if (flags > kStreamNonBlocking) return kInvalidValue;
  *stream = reinterpret_cast<Stream>(call.sim.work->AddStream(call.number()));
  return kSuccess;
}

EXPORTED Result cuStreamDestroy_v2(Stream stream) {
  ENTER(cuStreamDestroy_v2, kInit);
  const auto queue = call.sim.work->Find(stream);
  if (queue == nullptr) return kInvalidHandle;
  call.sim.work->Drop(queue);
  return kSuccess;
}

EXPORTED Result cuStreamSynchronize(Stream stream) {
  TakeTime();
  ENTER(cuStreamSynchronize, kContext);
  const auto queue = call.sim.work->Find(stream);
  if (queue == nullptr) return kInvalidHandle;
  ++call.sim.waits;
  call.sim.work->DoAll(queue);
  return call.device().failure;
}

EXPORTED Result cuStreamQuery(Stream stream) {
  ENTER(cuStreamQuery, kContext);
  const auto queue = call.sim.work->Find(stream);
  if (queue == nullptr) return kInvalidHandle;
  if (queue->waiting.empty()) return kSuccess;
  call.sim.work->DoOne(queue);  // so that asking again and again comes to an end
  return call.device().failure != kSuccess ? call.device().failure : kNotReady;
}

EXPORTED Result cuStreamWaitEvent(Stream stream, Event event, unsigned flags) {
  ENTER(cuStreamWaitEvent, kContext);
  const auto queue = call.sim.work->Find(stream);
  const auto point = call.sim.work->Find(event);
  if (queue == nullptr || point == nullptr) return kInvalidHandle;
  if (point->done < point->recorded) {
    call.sim.work->Put(queue, {.kind = Work::Kind::kWait,
                               .event = point,
                               .until = point->recorded,
                               .source = point->stream});
  }
  return kSuccess;
}

EXPORTED Result cuEventCreate(Event* event, unsigned flags) {
  ENTER(cuEventCreate, kContext);
  *event = reinterpret_cast<Event>(call.sim.work->AddEvent(call.number()));
  return kSuccess;
}

EXPORTED Result cuEventDestroy_v2(Event event) {
  ENTER(cuEventDestroy_v2, kInit);
  const auto point = call.sim.work->Find(event);
  if (point == nullptr) return kInvalidHandle;
  call.sim.work->Drop(point);
  return kSuccess;
}

EXPORTED Result cuEventRecord(Event event, Stream stream) {
  ENTER(cuEventRecord, kContext);
  const auto queue = call.sim.work->Find(stream);
  const auto point = call.sim.work->Find(event);
  if (queue == nullptr || point == nullptr || queue->device != point->device) return kInvalidHandle;
  ++point->recorded;
  point->stream = queue;
  call.sim.work->Put(queue,
                     {.kind = Work::Kind::kRecord, .event = point, .until = point->recorded});
  return kSuccess;
}

EXPORTED Result cuEventSynchronize(Event event) {
  TakeTime();
  ENTER(cuEventSynchronize, kContext);
  const auto point = call.sim.work->Find(event);
  if (point == nullptr) return kInvalidHandle;
  ++call.sim.waits;
  if (point->stream != nullptr) {
    call.sim.work->DoUntil(point, point->recorded, point->stream);
  }
  return call.device().failure;
}

EXPORTED Result cuEventQuery(Event event) {
  ENTER(cuEventQuery, kContext);
  const auto point = call.sim.work->Find(event);
  if (point == nullptr) return kInvalidHandle;
  if (point->done == point->recorded) return kSuccess;
  call.sim.work->DoOne(point->stream);
  return call.device().failure != kSuccess ? call.device().failure : kNotReady;
}

EXPORTED Result cuEventElapsedTime(float* milliseconds, Event start, Event end) {
  ENTER(cuEventElapsedTime, kContext);
  const auto first = call.sim.work->Find(start);
  const auto last = call.sim.work->Find(end);
  if (first == nullptr || last == nullptr || first->recorded == 0 || last->recorded == 0) {
    return kInvalidHandle;
  }
  if (first->done < first->recorded || last->done < last->recorded) return kNotReady;
  *milliseconds = static_cast<float>(last->time_ns - first->time_ns) / 1e6f;
  return kSuccess;
}

EXPORTED Result cuIpcGetMemHandle(IpcHandle* handle, Pointer address) {
  ENTER(cuIpcGetMemHandle, kContext);
  const Block* block = call.sim.memory.Holding(address);
  if (block == nullptr || block->kind != Kind::kDevice) return kInvalidValue;
  *handle = call.sim.memory.HandleOf(*block);
  return kSuccess;
}

EXPORTED Result cuIpcOpenMemHandle_v2(Pointer* address, IpcHandle handle, unsigned flags) {
  ENTER(cuIpcOpenMemHandle_v2, kContext);
  if (flags != kIpcLazyPeerAccess) return kInvalidValue;
  Block* block = nullptr;
  const Result result = call.sim.memory.Open(handle, call.number(), &block);
  if (result == kSuccess) *address = block->address;
  return result;
}

EXPORTED Result cuIpcCloseMemHandle(Pointer address) {
  ENTER(cuIpcCloseMemHandle, kContext);
  return Free(call, address, Kind::kOpened);
}

EXPORTED void SimulatedCudaReadState(SimulatedCudaState* state) {
  Simulator& sim = Sim();
  const std::lock_guard<std::mutex> lock(sim.mu);
  *state = Read(sim);
}

// Each function above is as the product declares it.
#define SAME_TYPE(name, symbol, parameters) \
  static_assert(std::is_same_v<decltype(&symbol), decltype(Functions::name)>);
NEREID_CUDA_FUNCTIONS(SAME_TYPE)
