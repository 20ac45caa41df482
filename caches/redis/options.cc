// SPDX-License-Identifier: Apache-2.0
#include "caches/redis/options.h"

#include "caches/sdk/settings.h"

namespace nereid_cache {
namespace {

using nereid_backend::Error;
using nereid_backend::Result;
using nereid_backend::StrCat;

constexpr uint64_t kMaxNumber = 86'400'000;  // the limit for milliseconds and for all other numbers

// Leaves `out` unchanged if the setting is missing.
template <typename Number>
Error ReadNumber(const Settings& settings, const char* name, uint64_t least, Number* out) {
  if (!settings.Has(name)) return {};
  const auto number = settings.Number(name);
  if (!number.has_value() || *number < least || *number > kMaxNumber) {
    return Error::InvalidArg(StrCat("redis cache: '", name, "' must be a number from ", least,
                                    " to ", kMaxNumber, ", got '", settings.Text(name), "'"));
  }
  *out = Number(*number);
  return {};
}

std::string TextOr(const Settings& settings, const char* name, const char* fallback) {
  if (settings.Has(name)) return settings.Text(name);
  return fallback == nullptr ? "" : fallback;
}

}  // namespace

Result<RedisOptions> ParseRedisOptions(const char* json,
                                       const std::function<const char*(const char*)>& environment) {
  NB_ASSIGN_OR_RETURN(const Settings settings,
                      Settings::Parse("redis", json,
                                      {"host", "port", "user", "password", "db", "connect_timeout",
                                       "socket_timeout", "pool_size", "wait_timeout", "tls_enabled",
                                       "ttl_seconds"}));
  if (!settings.Has("host") || !settings.Has("port")) {
    return Error::InvalidArg(
        "Failed to initialize the redis cache: Must at a minimum specify 'host' and 'port'");
  }
  if (const std::string tls = settings.Text("tls_enabled"); !tls.empty() && tls != "false") {
    return Error(TRITONSERVER_ERROR_UNSUPPORTED,
                 "redis cache: this build has no TLS; put a tunnel between, or set "
                 "'tls_enabled' to false");
  }
  RedisOptions options;
  options.host = settings.Text("host");
  options.port_text = settings.Text("port");
  const uint64_t port = settings.Number("port").value_or(0);
  options.port = port > 65535 ? 0 : static_cast<int>(port);
  options.user = TextOr(settings, "user", environment("TRITONCACHE_REDIS_USERNAME"));
  options.password = TextOr(settings, "password", environment("TRITONCACHE_REDIS_PASSWORD"));
  NB_RETURN_IF_ERROR(ReadNumber(settings, "db", 0, &options.db));
  NB_RETURN_IF_ERROR(ReadNumber(settings, "connect_timeout", 0, &options.connect_timeout));
  NB_RETURN_IF_ERROR(ReadNumber(settings, "socket_timeout", 0, &options.socket_timeout));
  NB_RETURN_IF_ERROR(ReadNumber(settings, "pool_size", 1, &options.pool_size));
  NB_RETURN_IF_ERROR(ReadNumber(settings, "wait_timeout", 0, &options.wait_timeout));
  NB_RETURN_IF_ERROR(ReadNumber(settings, "ttl_seconds", 0, &options.ttl));
  return options;
}

}  // namespace nereid_cache
