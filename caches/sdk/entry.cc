// SPDX-License-Identifier: Apache-2.0
#include "caches/sdk/entry.h"

#include <memory>

namespace nereid_cache {
namespace {

struct Deleter {
  void operator()(TRITONSERVER_BufferAttributes* attributes) const {
    // Cannot fail for attributes that were created successfully.
    if (TRITONSERVER_Error* error = TRITONSERVER_BufferAttributesDelete(attributes)) {
      TRITONSERVER_ErrorDelete(error);
    }
  }
};
using Attributes = std::unique_ptr<TRITONSERVER_BufferAttributes, Deleter>;

Result<Attributes> MakeAttributes() {
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  NB_RETURN_IF_ERROR(TRITONSERVER_BufferAttributesNew(&attributes));
  return Attributes(attributes);
}

}  // namespace

Result<std::vector<size_t>> BufferSizes(TRITONCACHE_CacheEntry* entry) {
  NB_ASSIGN_OR_RETURN(const Attributes attributes, MakeAttributes());
  size_t count = 0;
  NB_RETURN_IF_ERROR(TRITONCACHE_CacheEntryBufferCount(entry, &count));
  std::vector<size_t> sizes(count);
  for (size_t i = 0; i < count; ++i) {
    void* base = nullptr;
    TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
    NB_RETURN_IF_ERROR(TRITONCACHE_CacheEntryGetBuffer(entry, i, &base, attributes.get()));
    NB_RETURN_IF_ERROR(TRITONSERVER_BufferAttributesByteSize(attributes.get(), &sizes[i]));
    NB_RETURN_IF_ERROR(TRITONSERVER_BufferAttributesMemoryType(attributes.get(), &type));
    if (type == TRITONSERVER_MEMORY_GPU) {
      return Error::InvalidArg("Only input buffers in CPU memory are allowed in cache currently");
    }
  }
  return sizes;
}

Error SetBuffer(TRITONCACHE_CacheEntry* entry, size_t index, void* base) {
  return Error(TRITONCACHE_CacheEntrySetBuffer(entry, index, base, nullptr));
}

Error AddBuffer(TRITONCACHE_CacheEntry* entry, const void* base, size_t size) {
  NB_ASSIGN_OR_RETURN(const Attributes attributes, MakeAttributes());
  NB_RETURN_IF_ERROR(TRITONSERVER_BufferAttributesSetByteSize(attributes.get(), size));
  return Error(TRITONCACHE_CacheEntryAddBuffer(entry, const_cast<void*>(base), attributes.get()));
}

}  // namespace nereid_cache
