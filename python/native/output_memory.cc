// SPDX-License-Identifier: Apache-2.0
#include "python/native/output_memory.h"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace nereid_python::native {
namespace {

constexpr size_t kAlignment = 64;  // of a cache line, and of what vector instructions like best

// Stands before the bytes of an output.
struct alignas(kAlignment) Block {
  bool taken = false;  // by a Tensor, which frees the block
};

TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char* tensor_name,
                             size_t byte_size, TRITONSERVER_MemoryType, int64_t, void*,
                             void** buffer, void** buffer_userp,
                             TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id) {
  *memory_type = TRITONSERVER_MEMORY_CPU;
  *memory_type_id = 0;
  *buffer = nullptr;
  *buffer_userp = nullptr;
  if (byte_size == 0) return nullptr;
  void* place = nullptr;
  if (byte_size > SIZE_MAX - sizeof(Block) ||
      posix_memalign(&place, kAlignment, sizeof(Block) + byte_size) != 0) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE,
                                 (std::string("no memory for the ") + std::to_string(byte_size) +
                                  " bytes of output '" + tensor_name + "'")
                                     .c_str());
  }
  auto* block = new (place) Block;
  *buffer = block + 1;
  *buffer_userp = block;
  return nullptr;
}

TRITONSERVER_Error* Release(TRITONSERVER_ResponseAllocator*, void*, void* buffer_userp, size_t,
                            TRITONSERVER_MemoryType, int64_t) {
  auto* block = static_cast<Block*>(buffer_userp);
  if (block != nullptr && !block->taken) free(block);
  return nullptr;
}

TRITONSERVER_Error* Query(TRITONSERVER_ResponseAllocator*, void*, const char*, size_t*,
                          TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id) {
  *memory_type = TRITONSERVER_MEMORY_CPU;
  *memory_type_id = 0;
  return nullptr;
}

TRITONSERVER_ResponseAllocator* Make() {
  TRITONSERVER_ResponseAllocator* allocator = nullptr;
  TRITONSERVER_ErrorDelete(
      TRITONSERVER_ResponseAllocatorNew(&allocator, Allocate, Release, nullptr));
  if (allocator != nullptr) {
    TRITONSERVER_ErrorDelete(TRITONSERVER_ResponseAllocatorSetQueryFunction(allocator, Query));
  }
  return allocator;
}

}  // namespace

TRITONSERVER_ResponseAllocator* OutputAllocator() {
  static TRITONSERVER_ResponseAllocator* const allocator = Make();
  return allocator;
}

std::shared_ptr<void> TakeOutput(const void* buffer, void* buffer_userp) {
  if (buffer == nullptr || buffer_userp == nullptr) return nullptr;
  auto* block = static_cast<Block*>(buffer_userp);
  std::shared_ptr<void> taken(block, free);
  block->taken = true;
  return taken;
}

}  // namespace nereid_python::native
