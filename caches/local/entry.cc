// The C functions of libtritoncache_local.so.
#include <memory>
#include <string>

#include "backends/sdk/boundary.h"
#include "backends/sdk/log.h"
#include "caches/local/lru.h"
#include "caches/local/metrics.h"
#include "caches/sdk/entry.h"
#include "caches/sdk/settings.h"
#include "triton/core/tritoncache.h"

using nereid_backend::Error;
using nereid_backend::Guard;
using nereid_backend::Result;
using nereid_backend::StrCat;
using nereid_cache::Lru;
using nereid_cache::LruValue;
using nereid_cache::Settings;

namespace {

struct LocalCache {
  explicit LocalCache(uint64_t limit) : lru(limit) {}
  Lru lru;
  nereid_cache::CacheMetrics metrics;  // shows lru
};

LocalCache* Unwrap(TRITONCACHE_Cache* cache) { return reinterpret_cast<LocalCache*>(cache); }

Result<uint64_t> ReadSize(const char* config) {
  NB_ASSIGN_OR_RETURN(const Settings settings, Settings::Parse("local", config, {"size"}));
  if (!settings.Has("size")) {
    return Error::InvalidArg(
        "Failed to initialize LocalCache: config didn't contain a valid 'size' field.");
  }
  const std::optional<uint64_t> size = settings.Number("size");
  if (!size.has_value() || *size == 0) {
    return Error::InvalidArg(
        StrCat("Failed to initialize LocalCache: 'size' must be a number of bytes above 0, got '",
               settings.Text("size"), "'"));
  }
  return *size;
}

Error Lookup(LocalCache* cache, const char* key, TRITONCACHE_CacheEntry* entry,
             TRITONCACHE_Allocator* allocator) {
  const std::shared_ptr<const LruValue> value = cache->lru.Find(key);
  if (value == nullptr) return Error::NotFound(StrCat("key [", key, "] is not in the cache"));
  const char* at = value->bytes.get();
  for (const size_t size : value->sizes) {
    NB_RETURN_IF_ERROR(nereid_cache::AddBuffer(entry, at, size));
    at += size;
  }
  return Error(TRITONCACHE_Copy(allocator, entry));
}

Error Refused(Lru::Inserted inserted, const std::string& key, size_t size, const Lru& lru) {
  if (inserted == Lru::Inserted::kExists) {
    return Error(TRITONSERVER_ERROR_ALREADY_EXISTS, StrCat("key [", key, "] is in the cache"));
  }
  return Error::InvalidArg(StrCat("Failed to insert key [", key,
                                  "]: Requested byte_size: ", Lru::Weight(key, size),
                                  " is greater than total cache size: ", lru.counts().limit));
}

Error Insert(LocalCache* cache, const std::string& key, TRITONCACHE_CacheEntry* entry,
             TRITONCACHE_Allocator* allocator) {
  auto value = std::make_shared<LruValue>();
  NB_ASSIGN_OR_RETURN(value->sizes, nereid_cache::BufferSizes(entry));
  const size_t size = value->total();
  // Checked before anything is copied. Another thread may still insert the key first.
  const Lru::Inserted possible = cache->lru.CanInsert(key, size);
  if (possible != Lru::Inserted::kYes) return Refused(possible, key, size, cache->lru);
  value->bytes.reset(new char[size]);
  char* at = value->bytes.get();
  for (size_t i = 0; i < value->sizes.size(); ++i) {
    NB_RETURN_IF_ERROR(nereid_cache::SetBuffer(entry, i, at));
    at += value->sizes[i];
  }
  NB_RETURN_IF_ERROR(TRITONCACHE_Copy(allocator, entry));
  const Lru::Inserted inserted = cache->lru.Insert(key, std::move(value));
  if (inserted != Lru::Inserted::kYes) return Refused(inserted, key, size, cache->lru);
  return {};
}

}  // namespace

extern "C" {

// Tells the server that look-ups and insertions wait for nothing but a mutex.
TRITONCACHE_ISPEC void NEREIDCACHE_AnswersAtOnce() {}

TRITONSERVER_Error* TRITONCACHE_CacheInitialize(TRITONCACHE_Cache** cache, const char* config) {
  return Guard("CacheInitialize", [&]() -> Error {
    NB_ASSIGN_OR_RETURN(const uint64_t size, ReadSize(config));
    auto made = std::make_unique<LocalCache>(size);
    if (const Error shown = made->metrics.Start(&made->lru); !shown.ok()) {
      NB_LOG_WARNING("local cache: no metrics: ", shown.message());
    }
    *cache = reinterpret_cast<TRITONCACHE_Cache*>(made.release());
    return {};
  });
}

TRITONSERVER_Error* TRITONCACHE_CacheFinalize(TRITONCACHE_Cache* cache) {
  delete Unwrap(cache);
  return nullptr;
}

TRITONSERVER_Error* TRITONCACHE_CacheLookup(TRITONCACHE_Cache* cache, const char* key,
                                            TRITONCACHE_CacheEntry* entry,
                                            TRITONCACHE_Allocator* allocator) {
  return Guard("CacheLookup", [&] { return Lookup(Unwrap(cache), key, entry, allocator); });
}

TRITONSERVER_Error* TRITONCACHE_CacheInsert(TRITONCACHE_Cache* cache, const char* key,
                                            TRITONCACHE_CacheEntry* entry,
                                            TRITONCACHE_Allocator* allocator) {
  return Guard("CacheInsert", [&] { return Insert(Unwrap(cache), key, entry, allocator); });
}

}  // extern "C"
