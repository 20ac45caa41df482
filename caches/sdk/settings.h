// SPDX-License-Identifier: Apache-2.0
// Settings: a cache's configuration, as passed by the server: one JSON object, whose values are
// strings (from the command line) or numbers. A value; thread-compatible.
#ifndef NEREID_CACHES_SDK_SETTINGS_H_
#define NEREID_CACHES_SDK_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/error.h"
#include "backends/sdk/json.h"

namespace nereid_cache {

class Settings {
 public:
  // INVALID_ARG if `json` is no object, or has a member that is not in `known`.
  static nereid_backend::Result<Settings> Parse(std::string_view cache, const char* json,
                                                const std::vector<std::string_view>& known);

  bool Has(std::string_view name) const { return json_.Has(name); }
  // A number is returned as its digits; "" if there is no such member.
  std::string Text(std::string_view name) const;
  // A non-negative whole number, given as a number or in digits; otherwise none.
  std::optional<uint64_t> Number(std::string_view name) const;

 private:
  nereid_backend::Json json_;
};

}  // namespace nereid_cache

#endif  // NEREID_CACHES_SDK_SETTINGS_H_
