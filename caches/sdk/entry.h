// The buffers of a TRITONCACHE_CacheEntry, in C++. For the one call that the entry was passed to;
// any thread.
#ifndef NEREID_CACHES_SDK_ENTRY_H_
#define NEREID_CACHES_SDK_ENTRY_H_

#include <cstddef>
#include <vector>

#include "backends/sdk/error.h"
#include "triton/core/tritoncache.h"

namespace nereid_cache {

using nereid_backend::Error;
using nereid_backend::Result;

// How many bytes each buffer of an entry that is to be inserted has. INVALID_ARG for one that does
// not lie in memory of the CPU.
Result<std::vector<size_t>> BufferSizes(TRITONCACHE_CacheEntry* entry);
// Where the server shall write buffer `index`.
Error SetBuffer(TRITONCACHE_CacheEntry* entry, size_t index, void* base);
// One more buffer of an entry that was looked up. The bytes stay as they are until TRITONCACHE_Copy
// has returned.
Error AddBuffer(TRITONCACHE_CacheEntry* entry, const void* base, size_t size);

}  // namespace nereid_cache

#endif  // NEREID_CACHES_SDK_ENTRY_H_
