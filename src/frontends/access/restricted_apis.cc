// SPDX-License-Identifier: Apache-2.0
#include "frontends/access/restricted_apis.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

namespace nereid {

absl::Status RestrictedApis::Add(absl::string_view text, const OptionNames& names) {
  const size_t colon = text.find(':');
  const absl::string_view groups = text.substr(0, colon);
  const absl::string_view header =
      colon == absl::string_view::npos ? absl::string_view() : text.substr(colon + 1);
  const size_t equals = header.find('=');
  const absl::string_view key = header.substr(0, equals);
  const absl::string_view value =
      equals == absl::string_view::npos ? absl::string_view() : header.substr(equals + 1);
  // An empty value would be that of a header which is not there.
  if (groups.empty() || key.empty() || value.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        names.option, " option format is '<config name>:<setting>=<value>'. Got ", text, "\n"));
  }
  const Header required = {std::string(key), Secret(value)};
  for (const absl::string_view name : absl::StrSplit(groups, ',')) {
    const std::optional<ApiGroup> group = ParseApiGroup(name);
    if (!group.has_value() || (names.groups & SetOf(*group)) == 0) {
      return absl::InvalidArgumentError(absl::StrCat("unknown restricted ", names.thing, " '", name,
                                                     "' \n(known: ", ApiGroupNames(names.groups),
                                                     ")"));
    }
    std::optional<Header>& place = headers_[static_cast<size_t>(*group)];
    if (place.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("restricted ", names.thing, " '", name,
                                                     "' can not be specified in multiple config "
                                                     "groups\n"));
    }
    place = required;
    empty_ = false;
  }
  return absl::OkStatus();
}

}  // namespace nereid
