// SPDX-License-Identifier: Apache-2.0
// The C functions of libtritoncache_testing.so. Deliberately without a guard against exceptions.
#include <memory>

#include "caches/sdk/settings.h"
#include "caches/testing/behaviours.h"
#include "triton/core/tritoncache.h"

using nereid_backend::Error;
using nereid_cache::Settings;
using nereid_cache::TestingCache;

namespace {

TestingCache* Unwrap(TRITONCACHE_Cache* cache) { return reinterpret_cast<TestingCache*>(cache); }

Error Initialize(TRITONCACHE_Cache** cache, const char* config) {
  NB_ASSIGN_OR_RETURN(const Settings settings,
                      Settings::Parse("testing", config, {"behaviour", "lookup_ms"}));
  if (settings.Text("behaviour") == "refuses") {
    return Error::Internal("this cache refuses to initialise");
  }
  auto made = std::make_unique<TestingCache>(
      settings.Text("behaviour"),
      std::chrono::milliseconds(settings.Number("lookup_ms").value_or(0)));
  *cache = reinterpret_cast<TRITONCACHE_Cache*>(made.release());
  return {};
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONCACHE_CacheInitialize(TRITONCACHE_Cache** cache, const char* config) {
  return Initialize(cache, config).release();
}

TRITONSERVER_Error* TRITONCACHE_CacheFinalize(TRITONCACHE_Cache* cache) {
  delete Unwrap(cache);
  return nullptr;
}

TRITONSERVER_Error* TRITONCACHE_CacheLookup(TRITONCACHE_Cache* cache, const char* key,
                                            TRITONCACHE_CacheEntry* entry,
                                            TRITONCACHE_Allocator* allocator) {
  return Unwrap(cache)->Lookup(key, entry, allocator).release();
}

TRITONSERVER_Error* TRITONCACHE_CacheInsert(TRITONCACHE_Cache* cache, const char* key,
                                            TRITONCACHE_CacheEntry* entry,
                                            TRITONCACHE_Allocator* allocator) {
  return Unwrap(cache)->Insert(key, entry, allocator).release();
}

}  // extern "C"
