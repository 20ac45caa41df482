// SPDX-License-Identifier: Apache-2.0
// The C functions of libtritoncache_redis.so. One response is one string of Redis under its key.
#include <hiredis/hiredis.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caches/redis/connections.h"
#include "caches/redis/frames.h"
#include "caches/redis/options.h"
#include "caches/sdk/entry.h"
#include "triton/core/tritoncache.h"

using nereid_backend::Error;
using nereid_backend::Result;
using nereid_backend::StrCat;
using nereid_cache::Connections;
using nereid_cache::Reply;

namespace {

class RedisCache {
 public:
  explicit RedisCache(nereid_cache::RedisOptions options) : redis_(std::move(options)) {}

  static Result<std::unique_ptr<RedisCache>> Create(const char* config) {
    NB_ASSIGN_OR_RETURN(nereid_cache::RedisOptions options,
                        nereid_cache::ParseRedisOptions(
                            config, [](const char* name) { return std::getenv(name); }));
    auto made = std::make_unique<RedisCache>(std::move(options));
    // A wrong address or password is found at the start, not at the first request.
    NB_ASSIGN_OR_RETURN(const Reply pong, made->redis_.Run({"PING"}));
    return made;
  }

  Error Lookup(const char* key, TRITONCACHE_CacheEntry* entry, TRITONCACHE_Allocator* allocator) {
    NB_ASSIGN_OR_RETURN(const Reply reply, redis_.Run({"GET", key}));
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

  Error Insert(const char* key, TRITONCACHE_CacheEntry* entry, TRITONCACHE_Allocator* allocator) {
    NB_ASSIGN_OR_RETURN(const std::vector<size_t> sizes, nereid_cache::BufferSizes(entry));
    nereid_cache::FramedValue framed;
    nereid_cache::MakeFrames(sizes, &framed);
    for (size_t i = 0; i < framed.buffers.size(); ++i) {
      NB_RETURN_IF_ERROR(nereid_cache::SetBuffer(entry, i, framed.buffers[i]));
    }
    NB_RETURN_IF_ERROR(TRITONCACHE_Copy(allocator, entry));
    std::vector<std::string_view> command = {"SET", key, framed.value, "NX"};
    const std::string ttl = std::to_string(redis_.options().ttl.count());
    if (redis_.options().ttl.count() > 0) command.insert(command.end(), {"EX", ttl});
    NB_ASSIGN_OR_RETURN(const Reply reply, redis_.Run(command));
    if (reply->type != REDIS_REPLY_NIL) return {};
    return Error(TRITONSERVER_ERROR_ALREADY_EXISTS, StrCat("key [", key, "] is in Redis"));
  }

 private:
  Connections redis_;
};

}  // namespace

NC_CACHE_FUNCTIONS(RedisCache)
