// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_MemoryManager*: memory for backends, of the host or from the pools of the devices.
#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <cstdlib>

#include "backend_host/api/handles.h"
#include "base/status_macros.h"
#include "c_objects/error.h"
#include "device/devices.h"

using nereid::CaughtError;
using nereid::Devices;
using nereid::MemoryPool;
using nereid::ToCError;

namespace {

constexpr size_t kAlignment = 64;

// The handle of the manager is that of the devices whose pools it gives memory from.
const Devices& DevicesOf(TRITONBACKEND_MemoryManager* manager) {
  return *reinterpret_cast<const Devices*>(manager);
}

absl::StatusOr<void*> AllocateOnHost(uint64_t byte_size) {
  const uint64_t rounded = (byte_size + kAlignment - 1) / kAlignment * kAlignment;
  void* const buffer = rounded < byte_size
                           ? nullptr
                           : std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded);
  if (buffer != nullptr) return buffer;
  return absl::UnavailableError(
      absl::StrCat("out of memory: cannot allocate ", byte_size, " bytes"));
}

// The pool for memory of a type other than CPU.
absl::StatusOr<MemoryPool*> PoolFor(const Devices& devices, TRITONSERVER_MemoryType type,
                                    int64_t id) {
  if (devices.used().empty()) {
    // Also pinned memory: without a GPU there is nothing to pin it for.
    return absl::UnimplementedError(
        "this server uses no GPU: only memory of type CPU can be allocated");
  }
  if (type == TRITONSERVER_MEMORY_CPU_PINNED) return devices.pinned_pool();
  MemoryPool* const pool = type == TRITONSERVER_MEMORY_GPU ? devices.gpu_pool(id) : nullptr;
  if (pool != nullptr) return pool;
  return absl::UnimplementedError(
      absl::StrCat("no memory of type ", static_cast<int>(type), " and id ", id,
                   " can be allocated: this server uses no GPU of that number"));
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_BackendMemoryManager(TRITONBACKEND_Backend* backend,
                                                       TRITONBACKEND_MemoryManager** manager) try {
  *manager = reinterpret_cast<TRITONBACKEND_MemoryManager*>(
      const_cast<Devices*>(nereid::Unwrap(backend)->devices()));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_MemoryManagerAllocate(TRITONBACKEND_MemoryManager* manager,
                                                        void** buffer,
                                                        const TRITONSERVER_MemoryType memory_type,
                                                        const int64_t memory_type_id,
                                                        const uint64_t byte_size) try {
  const auto allocate = [&]() -> absl::StatusOr<void*> {
    if (memory_type == TRITONSERVER_MEMORY_CPU) return AllocateOnHost(byte_size);
    ASSIGN_OR_RETURN(MemoryPool* const pool,
                     PoolFor(DevicesOf(manager), memory_type, memory_type_id));
    return pool->Allocate(byte_size);
  };
  const absl::StatusOr<void*> allocated = allocate();
  if (!allocated.ok()) return ToCError(allocated.status());
  *buffer = *allocated;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_MemoryManagerFree(TRITONBACKEND_MemoryManager* manager,
                                                    void* buffer,
                                                    const TRITONSERVER_MemoryType memory_type,
                                                    const int64_t memory_type_id) try {
  if (memory_type == TRITONSERVER_MEMORY_CPU) {
    std::free(buffer);
    return nullptr;
  }
  const auto pool = PoolFor(DevicesOf(manager), memory_type, memory_type_id);
  return ToCError(pool.ok() ? (*pool)->Free(buffer) : pool.status());
} catch (...) {
  return CaughtError();
}

}  // extern "C"
