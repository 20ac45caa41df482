// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/known_names.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <string>
#include <vector>

#include "config/nearest_name.h"

namespace nereid {

std::string QuotedName(absl::string_view name) {
  constexpr size_t kMostShown = 64;
  if (name.size() <= kMostShown) return absl::StrCat("'", name, "'");
  return absl::StrCat("'", name.substr(0, kMostShown), "...'");
}

absl::Status CheckKnown(absl::string_view what, absl::string_view name,
                        absl::Span<const absl::string_view> known, absl::string_view meant) {
  if (absl::c_linear_search(known, name)) return absl::OkStatus();
  const std::string nearest =
      meant.empty() ? NearestName(name, std::vector<std::string>(known.begin(), known.end()))
                    : std::string(meant);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown ", what, " ", QuotedName(name),
                   nearest.empty() ? "." : absl::StrCat(", did you mean '", nearest, "'?"),
                   " Known: ", known.empty() ? "none" : absl::StrJoin(known, ", ")));
}

}  // namespace nereid
