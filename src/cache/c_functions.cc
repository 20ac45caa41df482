// SPDX-License-Identifier: Apache-2.0
// The TRITONCACHE_* functions that the server offers to a cache.
#include <absl/strings/str_cat.h>

#include "c_objects/error.h"
#include "cache/c_objects.h"

using nereid::CaughtError;
using nereid::ToCError;

namespace {

TRITONSERVER_Error* Invalid(absl::string_view message) {
  return ToCError(absl::InvalidArgumentError(message));
}

// OK if buffer `index` of `entry` exists.
absl::Status CheckIndex(const TRITONCACHE_CacheEntry* entry, size_t index) {
  if (entry == nullptr) return absl::InvalidArgumentError("cache entry was nullptr");
  if (index < entry->buffers.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("index ", index,
                                                 " is out of range: the cache entry has ",
                                                 entry->buffers.size(), " buffers"));
}

absl::Status CheckCpu(const TRITONSERVER_BufferAttributes& attributes) {
  if (attributes.memory_type != TRITONSERVER_MEMORY_GPU) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "Only input buffers in CPU memory are allowed in cache currently");
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONCACHE_ApiVersion(uint32_t* major, uint32_t* minor) try {
  *major = TRITONCACHE_API_VERSION_MAJOR;
  *minor = TRITONCACHE_API_VERSION_MINOR;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONCACHE_CacheEntryBufferCount(TRITONCACHE_CacheEntry* entry,
                                                      size_t* count) try {
  if (entry == nullptr || count == nullptr) return Invalid("cache entry or count was nullptr");
  *count = entry->buffers.size();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONCACHE_CacheEntryAddBuffer(
    TRITONCACHE_CacheEntry* entry, void* base,
    TRITONSERVER_BufferAttributes* buffer_attributes) try {
  if (entry == nullptr || base == nullptr || buffer_attributes == nullptr) {
    return Invalid("cache entry, buffer or buffer attributes was nullptr");
  }
  if (const absl::Status on_cpu = CheckCpu(*buffer_attributes); !on_cpu.ok()) {
    return ToCError(on_cpu);
  }
  entry->buffers.push_back({base, *buffer_attributes});
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONCACHE_CacheEntryGetBuffer(
    TRITONCACHE_CacheEntry* entry, size_t index, void** base,
    TRITONSERVER_BufferAttributes* buffer_attributes) try {
  if (const absl::Status there = CheckIndex(entry, index); !there.ok()) return ToCError(there);
  if (base == nullptr || buffer_attributes == nullptr) {
    return Invalid("buffer or buffer attributes was nullptr");
  }
  *base = entry->buffers[index].base;
  *buffer_attributes = entry->buffers[index].attributes;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONCACHE_CacheEntrySetBuffer(
    TRITONCACHE_CacheEntry* entry, size_t index, void* new_base,
    TRITONSERVER_BufferAttributes* buffer_attributes) try {
  if (const absl::Status there = CheckIndex(entry, index); !there.ok()) return ToCError(there);
  if (buffer_attributes != nullptr) {
    if (const absl::Status on_cpu = CheckCpu(*buffer_attributes); !on_cpu.ok()) {
      return ToCError(on_cpu);
    }
    entry->buffers[index].attributes = *buffer_attributes;
  }
  entry->buffers[index].base = new_base;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONCACHE_Copy(TRITONCACHE_Allocator* allocator,
                                     TRITONCACHE_CacheEntry* entry) try {
  if (allocator == nullptr || entry == nullptr) {
    return Invalid("cache allocator or entry was nullptr");
  }
  if (allocator->result.has_value()) {
    return Invalid("the bytes of this cache entry were copied already");
  }
  allocator->result = allocator->copy(*entry);
  return ToCError(*allocator->result);
} catch (...) {
  return CaughtError();
}

}  // extern "C"
