// SPDX-License-Identifier: Apache-2.0
#include "config/nearest_name.h"

#include <absl/strings/match.h>

#include "plain/nearest.h"

namespace nereid {
namespace {

constexpr size_t kShortestPrefix = 3;

}  // namespace

std::string NearestName(absl::string_view name, absl::Span<const std::string> candidates) {
  if (name.size() > kLongestMisspelt) return "";
  std::string nearest =
      FewestEdits({name.data(), name.size()}, {candidates.data(), candidates.size()});
  if (!nearest.empty() || name.size() < kShortestPrefix) return nearest;
  for (const std::string& candidate : candidates) {
    if (absl::StartsWithIgnoreCase(candidate, name)) return candidate;
  }
  return "";
}

}  // namespace nereid
