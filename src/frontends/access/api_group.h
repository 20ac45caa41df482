// SPDX-License-Identifier: Apache-2.0
// The groups of the API that a server can restrict: routes of REST and methods of gRPC belong to
// one each. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_ACCESS_API_GROUP_H_
#define NEREID_FRONTENDS_ACCESS_API_GROUP_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace nereid {

enum class ApiGroup : uint8_t {
  kHealth,
  kMetadata,
  kInference,
  kSharedMemory,
  kModelConfig,
  kModelRepository,
  kStatistics,
  kTrace,
  kLogging,
  kNereid,
};
inline constexpr size_t kApiGroups = 10;

// A set of groups.
using ApiGroupSet = uint16_t;
inline constexpr ApiGroupSet kAllApiGroups = (1u << kApiGroups) - 1;
constexpr ApiGroupSet SetOf(ApiGroup group) {
  return static_cast<ApiGroupSet>(1u << static_cast<unsigned>(group));
}

// Those that methods of gRPC belong to.
inline constexpr ApiGroupSet kGrpcApiGroups = kAllApiGroups & ~SetOf(ApiGroup::kNereid);

// "model-config"; lives as long as the program.
absl::string_view ApiGroupName(ApiGroup group);
// Nothing if no group has that name.
std::optional<ApiGroup> ParseApiGroup(absl::string_view name);
// "health, metadata, ...": the names of `groups`, for messages.
std::string ApiGroupNames(ApiGroupSet groups = kAllApiGroups);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_ACCESS_API_GROUP_H_
