// SPDX-License-Identifier: Apache-2.0
// TestingCache: a cache that works or misbehaves (README.md). Thread-safe.
#ifndef NEREID_CACHES_TESTING_BEHAVIOURS_H_
#define NEREID_CACHES_TESTING_BEHAVIOURS_H_

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "backends/sdk/error.h"
#include "triton/core/tritoncache.h"

namespace nereid_cache {

class TestingCache {
 public:
  TestingCache(std::string behaviour, std::chrono::milliseconds lookup_time)
      : behaviour_(std::move(behaviour)), lookup_time_(lookup_time) {}

  // Throws if the behaviour says so.
  nereid_backend::Error Lookup(const std::string& key, TRITONCACHE_CacheEntry* entry,
                               TRITONCACHE_Allocator* allocator);
  nereid_backend::Error Insert(const std::string& key, TRITONCACHE_CacheEntry* entry,
                               TRITONCACHE_Allocator* allocator);

 private:
  bool Is(const char* behaviour) const { return behaviour_ == behaviour; }
  nereid_backend::Error ReadEntry(std::string bytes, TRITONCACHE_CacheEntry* entry,
                                  TRITONCACHE_Allocator* allocator);

  const std::string behaviour_;
  const std::chrono::milliseconds lookup_time_;
  std::mutex mu_;
  std::map<std::string, std::string> entries_;  // guarded by mu_
};

// Calls the functions of the C API with wrong arguments. INTERNAL, naming the call, if one of them
// succeeds. `entry` has one buffer of `size` bytes, before and afterwards.
nereid_backend::Error ProbeApi(TRITONCACHE_CacheEntry* entry, size_t size);

}  // namespace nereid_cache

#endif  // NEREID_CACHES_TESTING_BEHAVIOURS_H_
