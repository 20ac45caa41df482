// SPDX-License-Identifier: Apache-2.0
// The response cache C API: a shared library (libtritoncache_<name>.so) that stores and finds
// responses by key. The library implements the functions marked TRITONCACHE_ISPEC, all four of
// them; the server implements those marked TRITONCACHE_DECLSPEC.
//
// Language: C99 and C++. Errors and ownership are as in tritonserver.h.
//
// Threads: the server inserts and looks up from many threads at once, so the library must lock its
// shared data. An entry and an allocator belong to the one call they were passed to and must not be
// kept beyond it.

#ifndef NEREID_TRITON_CORE_TRITONCACHE_H_
#define NEREID_TRITON_CORE_TRITONCACHE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Linkage of what the server library implements (_DECLSPEC) and of what a plug-in implements
/// (_ISPEC).
#if defined(__GNUC__) || defined(__clang__)
#define TRITONCACHE_DECLSPEC __attribute__((__visibility__("default")))
#define TRITONCACHE_ISPEC __attribute__((__visibility__("default")))
#else
#define TRITONCACHE_DECLSPEC
#define TRITONCACHE_ISPEC
#endif

/// Version of the cache API this header describes. A cache compares it with
/// TRITONCACHE_ApiVersion and refuses a server with another major number or a smaller minor
/// one.
#define TRITONCACHE_API_VERSION_MAJOR 0
#define TRITONCACHE_API_VERSION_MINOR 1

/// The cache itself, which the library defines as it likes, and the two objects through which
/// the server passes responses: an entry, a list of buffers, and an allocator, which moves
/// bytes between the entry and the responses.
typedef struct TRITONCACHE_Cache TRITONCACHE_Cache;
typedef struct TRITONCACHE_CacheEntry TRITONCACHE_CacheEntry;
typedef struct TRITONCACHE_Allocator TRITONCACHE_Allocator;

/* ---------------------------------------------------------------------------------------------- */
/* What the server offers to a cache                                                              */
/* ---------------------------------------------------------------------------------------------- */

/// Writes the version of the cache API that the server implements. Thread-safe.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_ApiVersion(uint32_t* major, uint32_t* minor);

/// Returns the number of buffers of an entry.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_CacheEntryBufferCount(
    TRITONCACHE_CacheEntry* entry, size_t* count);

/// Appends a buffer to an entry, in TRITONCACHE_CacheLookup. Only the pointer is kept; size and
/// memory are taken from the attributes, which stay with the caller. Only CPU memory. The bytes
/// must stay as they are until TRITONCACHE_Copy has returned.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_CacheEntryAddBuffer(
    TRITONCACHE_CacheEntry* entry, void* base, TRITONSERVER_BufferAttributes* buffer_attributes);

/// Returns a buffer by index, and fills in attributes that the caller made. The buffer stays
/// the entry's, and may be NULL if only its size is known. Errors: INVALID_ARG for an index out
/// of range.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_CacheEntryGetBuffer(
    TRITONCACHE_CacheEntry* entry, size_t index, void** base,
    TRITONSERVER_BufferAttributes* buffer_attributes);

/// Replaces a buffer by index, in TRITONCACHE_CacheInsert, where the entry comes with sizes
/// only. Only the pointer is kept. buffer_attributes may be NULL, which keeps the size. Errors:
/// INVALID_ARG for an index out of range.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_CacheEntrySetBuffer(
    TRITONCACHE_CacheEntry* entry, size_t index, void* new_base,
    TRITONSERVER_BufferAttributes* buffer_attributes);

/// Lets the server move the bytes: on a look-up from the buffers of the entry into responses,
/// on an insertion from responses into the buffers of the entry. Call it while the buffers are
/// safe from eviction.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_Copy(TRITONCACHE_Allocator* allocator,
                                                          TRITONCACHE_CacheEntry* entry);

/* ---------------------------------------------------------------------------------------------- */
/* Implemented by the cache library                                                               */
/* ---------------------------------------------------------------------------------------------- */

// The server looks these up by name after it has opened the library; all four are required.
// Returned errors pass to the server.

/// Required. Makes the cache, and sets *cache to any pointer that the other functions get.
/// config is the cache's configuration in JSON. An error fails the start of the server.
TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheInitialize(TRITONCACHE_Cache** cache,
                                                                  const char* config);

/// Required. Frees the cache. No other call is in progress or follows.
TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheFinalize(TRITONCACHE_Cache* cache);

/// Required. Stores an entry. It comes with the sizes of its buffers and NULL pointers: the
/// cache allocates them, sets them with TRITONCACHE_CacheEntrySetBuffer and calls
/// TRITONCACHE_Copy. Returns ALREADY_EXISTS for a key that is stored. The key is lent for the
/// call. Thread-safe.
TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheInsert(TRITONCACHE_Cache* cache,
                                                              const char* key,
                                                              TRITONCACHE_CacheEntry* entry,
                                                              TRITONCACHE_Allocator* allocator);

/// Required. Finds the entry with that key. On a hit, adds each stored buffer to the given
/// entry and calls TRITONCACHE_Copy; returns NOT_FOUND if there is no such key. The key is lent
/// for the call. Thread-safe.
TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheLookup(TRITONCACHE_Cache* cache,
                                                              const char* key,
                                                              TRITONCACHE_CacheEntry* entry,
                                                              TRITONCACHE_Allocator* allocator);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // NEREID_TRITON_CORE_TRITONCACHE_H_
