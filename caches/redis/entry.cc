// The C functions of libtritoncache_redis.so. One response is one string of Redis under its key.
#include <hiredis/hiredis.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/boundary.h"
#include "caches/redis/connections.h"
#include "caches/redis/frames.h"
#include "caches/redis/options.h"
#include "caches/sdk/entry.h"
#include "triton/core/tritoncache.h"

using nereid_backend::Error;
using nereid_backend::Guard;
using nereid_backend::StrCat;
using nereid_cache::Connections;
using nereid_cache::Reply;

namespace {

Connections* Unwrap(TRITONCACHE_Cache* cache) { return reinterpret_cast<Connections*>(cache); }

Error Lookup(Connections* redis, const char* key, TRITONCACHE_CacheEntry* entry,
             TRITONCACHE_Allocator* allocator) {
  NB_ASSIGN_OR_RETURN(const Reply reply, redis->Run({"GET", key}));
  if (reply->type == REDIS_REPLY_NIL) {
    return Error::NotFound(StrCat("key [", key, "] is not in Redis"));
  }
  if (reply->type != REDIS_REPLY_STRING) {
    return Error::Internal(StrCat("unexpected answer of Redis to GET: type ", reply->type));
  }
  const auto buffers = nereid_cache::ReadFrames({reply->str, reply->len});
  if (!buffers.has_value()) {
    return Error::Internal(StrCat("the value of key [", key, "] in Redis is not of this cache"));
  }
  for (const std::string_view buffer : *buffers) {
    NB_RETURN_IF_ERROR(nereid_cache::AddBuffer(entry, buffer.data(), buffer.size()));
  }
  return Error(TRITONCACHE_Copy(allocator, entry));
}

Error Insert(Connections* redis, const char* key, TRITONCACHE_CacheEntry* entry,
             TRITONCACHE_Allocator* allocator) {
  NB_ASSIGN_OR_RETURN(const std::vector<size_t> sizes, nereid_cache::BufferSizes(entry));
  nereid_cache::FramedValue framed;
  nereid_cache::MakeFrames(sizes, &framed);
  for (size_t i = 0; i < framed.buffers.size(); ++i) {
    NB_RETURN_IF_ERROR(nereid_cache::SetBuffer(entry, i, framed.buffers[i]));
  }
  NB_RETURN_IF_ERROR(TRITONCACHE_Copy(allocator, entry));
  std::vector<std::string_view> command = {"SET", key, framed.value, "NX"};
  const std::string ttl = std::to_string(redis->options().ttl.count());
  if (redis->options().ttl.count() > 0) command.insert(command.end(), {"EX", ttl});
  NB_ASSIGN_OR_RETURN(const Reply reply, redis->Run(command));
  if (reply->type != REDIS_REPLY_NIL) return {};
  return Error(TRITONSERVER_ERROR_ALREADY_EXISTS, StrCat("key [", key, "] is in Redis"));
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONCACHE_CacheInitialize(TRITONCACHE_Cache** cache, const char* config) {
  return Guard("CacheInitialize", [&]() -> Error {
    NB_ASSIGN_OR_RETURN(nereid_cache::RedisOptions options,
                        nereid_cache::ParseRedisOptions(
                            config, [](const char* name) { return std::getenv(name); }));
    auto redis = std::make_unique<Connections>(std::move(options));
    // A wrong address or password is found at the start, not at the first request.
    NB_ASSIGN_OR_RETURN(const Reply pong, redis->Run({"PING"}));
    *cache = reinterpret_cast<TRITONCACHE_Cache*>(redis.release());
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
