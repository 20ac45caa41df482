// SPDX-License-Identifier: Apache-2.0
#include "frontends/access/api_group.h"

#include <absl/strings/str_join.h>

#include <array>
#include <vector>

namespace nereid {
namespace {

// In the order of ApiGroup.
constexpr std::array<absl::string_view, kApiGroups> kNames = {
    "health",           "metadata",   "inference", "shared-memory", "model-config",
    "model-repository", "statistics", "trace",     "logging",       "nereid"};

}  // namespace

absl::string_view ApiGroupName(ApiGroup group) { return kNames[static_cast<size_t>(group)]; }

std::optional<ApiGroup> ParseApiGroup(absl::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<ApiGroup>(i);
  }
  return std::nullopt;
}

std::string ApiGroupNames(ApiGroupSet groups) {
  std::vector<absl::string_view> names;
  for (size_t i = 0; i < kNames.size(); ++i) {
    if ((groups & SetOf(static_cast<ApiGroup>(i))) != 0) names.push_back(kNames[i]);
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace nereid
