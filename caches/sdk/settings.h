// Settings: a cache's configuration, as the server passes it: one JSON object, whose values are
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
  // INVALID_ARG if `json` is no object, or has a member that is none of `known`.
  static nereid_backend::Result<Settings> Parse(std::string_view cache, const char* json,
                                                const std::vector<std::string_view>& known);

  bool Has(std::string_view name) const { return json_.Has(name); }
  // A number reads as its digits; "" where there is none.
  std::string Text(std::string_view name) const;
  // None unless it is a whole number, not negative, as a number or in digits.
  std::optional<uint64_t> Number(std::string_view name) const;

 private:
  nereid_backend::Json json_;
};

}  // namespace nereid_cache

#endif  // NEREID_CACHES_SDK_SETTINGS_H_
