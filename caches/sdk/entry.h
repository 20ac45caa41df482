// The buffers of a TRITONCACHE_CacheEntry, in C++. Valid during the call to which the entry was
// passed; any thread.
#ifndef NEREID_CACHES_SDK_ENTRY_H_
#define NEREID_CACHES_SDK_ENTRY_H_

#include <cstddef>
#include <vector>

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

#endif  // NEREID_CACHES_SDK_ENTRY_H_
