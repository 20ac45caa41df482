// SPDX-License-Identifier: Apache-2.0
// RedisOptions: the settings of the Redis cache, under the names that Triton's has, but for
// `ttl_seconds`, which it has not. Plain values.
#ifndef NEREID_CACHES_REDIS_OPTIONS_H_
#define NEREID_CACHES_REDIS_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "backends/sdk/error.h"

namespace nereid_cache {

struct RedisOptions {
  std::string host;
  std::string port_text;  // as given
  int port = 0;           // 0 unless that is a port number: connecting then fails
  std::string user;       // empty: the server's default user
  std::string password;   // empty: no authentication
  uint64_t db = 0;
  // Zero: forever.
  std::chrono::milliseconds connect_timeout{1000};
  std::chrono::milliseconds socket_timeout{1000};
  size_t pool_size = 4;                         // connections open at a time, at least 1
  std::chrono::milliseconds wait_timeout{100};  // wait for a free connection
  std::chrono::seconds ttl{0};                  // after which Redis forgets a response; zero: never
};

// From the JSON that the server passes. If user or password is missing, it is taken from the
// environment (TRITONCACHE_REDIS_USERNAME, TRITONCACHE_REDIS_PASSWORD), which `environment` reads;
// `environment` returns null for a variable that is not set. INVALID_ARG for a missing host or
// port, or a bad value.
nereid_backend::Result<RedisOptions> ParseRedisOptions(
    const char* json, const std::function<const char*(const char*)>& environment);

}  // namespace nereid_cache

#endif  // NEREID_CACHES_REDIS_OPTIONS_H_
