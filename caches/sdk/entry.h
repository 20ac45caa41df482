// SPDX-License-Identifier: Apache-2.0
// The C functions that a cache exports, NC_CACHE_FUNCTIONS, and the buffers of a
// TRITONCACHE_CacheEntry in C++. These are valid during the call to which the entry was passed; any
// thread.
#ifndef NEREID_CACHES_SDK_ENTRY_H_
#define NEREID_CACHES_SDK_ENTRY_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "backends/sdk/boundary.h"
#include "backends/sdk/error.h"
#include "triton/core/tritoncache.h"

namespace nereid_cache {

using nereid_backend::Error;
using nereid_backend::Result;

// The size of each buffer of an entry to be inserted, in bytes. INVALID_ARG for a buffer that is
// not in CPU memory.
Result<std::vector<size_t>> BufferSizes(TRITONCACHE_CacheEntry* entry);
// Sets the memory into which the server writes buffer `index`.
Error SetBuffer(TRITONCACHE_CacheEntry* entry, size_t index, void* base);
// Adds a buffer to an entry that was looked up. The bytes must not change until TRITONCACHE_Copy
// has returned.
Error AddBuffer(TRITONCACHE_CacheEntry* entry, const void* base, size_t size);

}  // namespace nereid_cache

// Defines the C functions of a cache whose object is a CacheT. It has
//   static Result<std::unique_ptr<CacheT>> Create(const char* config);
//   Error Lookup(const char* key, TRITONCACHE_CacheEntry*, TRITONCACHE_Allocator*);
//   Error Insert(const char* key, TRITONCACHE_CacheEntry*, TRITONCACHE_Allocator*);
// Lookup and Insert are called by any threads, several at a time. No C++ exception leaves them.
#define NC_CACHE_FUNCTIONS(CacheT)                                                                 \
  extern "C" {                                                                                     \
  TRITONSERVER_Error* TRITONCACHE_CacheInitialize(TRITONCACHE_Cache** cache, const char* config) { \
    return ::nereid_backend::Guard("CacheInitialize", [&]() -> ::nereid_backend::Error {           \
      NB_ASSIGN_OR_RETURN(std::unique_ptr<CacheT> made, CacheT::Create(config));                   \
      *cache = reinterpret_cast<TRITONCACHE_Cache*>(made.release());                               \
      return {};                                                                                   \
    });                                                                                            \
  }                                                                                                \
  TRITONSERVER_Error* TRITONCACHE_CacheFinalize(TRITONCACHE_Cache* cache) {                        \
    delete reinterpret_cast<CacheT*>(cache);                                                       \
    return nullptr;                                                                                \
  }                                                                                                \
  TRITONSERVER_Error* TRITONCACHE_CacheLookup(TRITONCACHE_Cache* cache, const char* key,           \
                                              TRITONCACHE_CacheEntry* entry,                       \
                                              TRITONCACHE_Allocator* allocator) {                  \
    return ::nereid_backend::Guard("CacheLookup", [&] {                                            \
      return reinterpret_cast<CacheT*>(cache)->Lookup(key, entry, allocator);                      \
    });                                                                                            \
  }                                                                                                \
  TRITONSERVER_Error* TRITONCACHE_CacheInsert(TRITONCACHE_Cache* cache, const char* key,           \
                                              TRITONCACHE_CacheEntry* entry,                       \
                                              TRITONCACHE_Allocator* allocator) {                  \
    return ::nereid_backend::Guard("CacheInsert", [&] {                                            \
      return reinterpret_cast<CacheT*>(cache)->Insert(key, entry, allocator);                      \
    });                                                                                            \
  }                                                                                                \
  }

#endif  // NEREID_CACHES_SDK_ENTRY_H_
