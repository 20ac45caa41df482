// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/query.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "frontends/http/router.h"

namespace nereid {
namespace {

using NameAndValue = std::pair<absl::string_view, absl::string_view>;

NameAndValue Split(absl::string_view part) {
  const size_t equals = part.find('=');
  if (equals == absl::string_view::npos) return {part, {}};
  return {part.substr(0, equals), part.substr(equals + 1)};
}

std::optional<std::string> Find(absl::string_view query, absl::string_view name) {
  for (const absl::string_view part : absl::StrSplit(query, '&', absl::SkipEmpty())) {
    const NameAndValue parameter = Split(part);
    if (parameter.first == name) return PercentDecode(parameter.second);
  }
  return std::nullopt;
}

}  // namespace

absl::Status CheckParameters(absl::string_view query, absl::Span<const absl::string_view> names) {
  std::set<absl::string_view> seen;
  for (const absl::string_view part : absl::StrSplit(query, '&', absl::SkipEmpty())) {
    const absl::string_view name = Split(part).first;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return absl::InvalidArgumentError(absl::StrCat("unknown parameter '", name,
                                                     "' in the query: this route has ",
                                                     absl::StrJoin(names, ", ")));
    }
    if (!seen.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter '", name, "' comes twice in the query"));
    }
  }
  return absl::OkStatus();
}

std::string TextParameter(absl::string_view query, absl::string_view name) {
  return Find(query, name).value_or("");
}

absl::StatusOr<uint64_t> NumberParameter(absl::string_view query, absl::string_view name,
                                         uint64_t absent, uint64_t most) {
  const std::optional<std::string> text = Find(query, name);
  if (!text.has_value()) return absent;
  uint64_t number = 0;
  const bool digits = !text->empty() && std::all_of(text->begin(), text->end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  if (!digits || !absl::SimpleAtoi(*text, &number) || number > most) {
    return absl::InvalidArgumentError(absl::StrCat("parameter '", name, "' of the query is '",
                                                   *text, "': it must be a whole number up to ",
                                                   most));
  }
  return number;
}

}  // namespace nereid
