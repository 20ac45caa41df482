// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_MemoryManager*: host memory for backends.
#include <absl/strings/str_cat.h>

#include <cstdlib>

#include "backend_host/api/handles.h"
#include "c_objects/error.h"

using nereid::CaughtError;

namespace {

constexpr size_t kAlignment = 64;

// The manager keeps no state: its handle only has to be a valid pointer.
struct HostMemoryManager {
} g_manager;

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_BackendMemoryManager(TRITONBACKEND_Backend* backend,
                                                       TRITONBACKEND_MemoryManager** manager) try {
  *manager = reinterpret_cast<TRITONBACKEND_MemoryManager*>(&g_manager);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_MemoryManagerAllocate(TRITONBACKEND_MemoryManager* manager,
                                                        void** buffer,
                                                        const TRITONSERVER_MemoryType memory_type,
                                                        const int64_t memory_type_id,
                                                        const uint64_t byte_size) try {
  if (memory_type != TRITONSERVER_MEMORY_CPU) {
    // Also pinned memory: without a GPU there is nothing to pin it for.
    return nereid::ToCError(absl::UnimplementedError(
        "this server has no GPU support: only memory of type CPU can be allocated"));
  }
  const uint64_t rounded = (byte_size + kAlignment - 1) / kAlignment * kAlignment;
  *buffer = rounded < byte_size
                ? nullptr
                : std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded);
  if (*buffer != nullptr) return nullptr;
  return nereid::ToCError(
      absl::UnavailableError(absl::StrCat("out of memory: cannot allocate ", byte_size, " bytes")));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_MemoryManagerFree(TRITONBACKEND_MemoryManager* manager,
                                                    void* buffer,
                                                    const TRITONSERVER_MemoryType memory_type,
                                                    const int64_t memory_type_id) try {
  std::free(buffer);
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
