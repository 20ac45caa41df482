// SPDX-License-Identifier: Apache-2.0
#include "caches/sdk/settings.h"

#include <algorithm>
#include <charconv>

namespace nereid_cache {

using nereid_backend::Error;
using nereid_backend::Json;
using nereid_backend::Result;
using nereid_backend::StrCat;

Result<Settings> Settings::Parse(std::string_view cache, const char* json,
                                 const std::vector<std::string_view>& known) {
  Settings settings;
  NB_ASSIGN_OR_RETURN(settings.json_, Json::Parse(json == nullptr ? "" : json));
  if (!settings.json_.is_object()) {
    return Error::InvalidArg(StrCat("the configuration of cache '", cache, "' is no JSON object"));
  }
  for (const auto& [name, value] : settings.json_.members()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string names;
    for (const std::string_view setting : known) {
      names += names.empty() ? "" : ", ";
      names += setting;
    }
    return Error::InvalidArg(
        StrCat("cache '", cache, "' has no setting '", name, "'; it has: ", names));
  }
  return settings;
}

std::string Settings::Text(std::string_view name) const {
  const Json& value = json_[name];
  const std::string text = value.AsString();
  // A value of any other type is returned as its JSON text.
  return !text.empty() || value.is_null() || value.Write() == "\"\"" ? text : value.Write();
}

std::optional<uint64_t> Settings::Number(std::string_view name) const {
  const std::string text = Text(name);
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

}  // namespace nereid_cache
