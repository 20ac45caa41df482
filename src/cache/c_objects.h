// SPDX-License-Identifier: Apache-2.0
// Complete types behind TRITONCACHE_CacheEntry and TRITONCACHE_Allocator. Both live for one look-up
// or insertion and are used by the thread that makes it.
#ifndef NEREID_CACHE_C_OBJECTS_H_
#define NEREID_CACHE_C_OBJECTS_H_

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>

#include <optional>
#include <vector>

#include "c_objects/buffer_attributes.h"
#include "triton/core/tritoncache.h"

struct TRITONCACHE_CacheEntry {
  struct Buffer {
    void* base = nullptr;  // not owned
    TRITONSERVER_BufferAttributes attributes;
  };
  std::vector<Buffer> buffers;
};

struct TRITONCACHE_Allocator {
  // Copies bytes between the entry and a response. Runs at most once.
  absl::FunctionRef<absl::Status(const TRITONCACHE_CacheEntry&)> copy;
  std::optional<absl::Status> result;  // of copy; none before `copy` ran
};

#endif  // NEREID_CACHE_C_OBJECTS_H_
