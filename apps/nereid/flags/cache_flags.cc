// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include "flags/flag_table.h"
#include "options/flag_kinds.h"

namespace nereid {
namespace {

absl::Status AddCacheConfig(absl::string_view value, Settings* settings) {
  const size_t comma = value.find(',');
  if (comma == absl::string_view::npos || comma == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("No cache specified. --cache-config option format is <cache "
                     "name>,<setting>=<value>. Got ",
                     value, "\n"));
  }
  const absl::string_view setting = value.substr(comma + 1);
  const size_t equals = setting.find('=');
  if (equals == absl::string_view::npos || equals == 0 || equals + 1 == setting.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--cache-config option format is '<cache name>,<setting>=<value>'. Got ", value, "\n"));
  }
  settings->cache_settings[std::string(value.substr(0, comma))]
                          [std::string(setting.substr(0, equals))] =
      std::string(setting.substr(equals + 1));
  return absl::OkStatus();
}

Flag ResponseCacheByteSize(Settings* s) {
  return Deprecated(&s->deprecations, "--cache-config=local,size=<bytes>",
                    {"response-cache-byte-size", "<integer>", "",
                     "Deprecated: n is --cache-config=local,size=n.", [s](absl::string_view value) {
                       int64_t size = 0;
                       const absl::Status status = ParseInteger(value, 0, kMaxInt64, &size);
                       if (status.ok()) s->response_cache_byte_size = size;
                       return status;
                     }});
}

}  // namespace

FlagGroup CacheFlags(Settings* s) {
  return {
      "Response cache",
      {Repeated(
           {"cache-config", "<string>", "",
            "<cache>,<setting>=<value>: use that response cache, with this setting; for instance "
            "local,size=104857600. May be given several times.",
            [s](absl::string_view value) { return AddCacheConfig(value, s); }}),
       WithDefaultText("../lib/nereid/caches or ../caches beside the executable",
                       OfFolder(StringFlag("cache-directory", &s->server.cache_directory,
                                           "Folder of caches: <name>/libtritoncache_<name>.so."))),
       ResponseCacheByteSize(s)}};
}

}  // namespace nereid
