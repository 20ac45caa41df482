// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/method_groups.h"

#include <absl/strings/match.h>
#include <absl/strings/strip.h>

namespace nereid {
namespace {

struct Method {
  absl::string_view rpc;
  ApiGroup group;
};

constexpr absl::string_view kInferenceService = "/inference.GRPCInferenceService/";
constexpr Method kMethods[] = {
    {"ModelInfer", ApiGroup::kInference},
    {"ModelStreamInfer", ApiGroup::kInference},
    {"ServerLive", ApiGroup::kHealth},
    {"ServerReady", ApiGroup::kHealth},
    {"ModelReady", ApiGroup::kHealth},
    {"ServerMetadata", ApiGroup::kMetadata},
    {"ModelMetadata", ApiGroup::kMetadata},
    {"ModelConfig", ApiGroup::kModelConfig},
    {"ModelStatistics", ApiGroup::kStatistics},
    {"RepositoryIndex", ApiGroup::kModelRepository},
    {"RepositoryModelLoad", ApiGroup::kModelRepository},
    {"RepositoryModelUnload", ApiGroup::kModelRepository},
    {"SystemSharedMemoryStatus", ApiGroup::kSharedMemory},
    {"SystemSharedMemoryRegister", ApiGroup::kSharedMemory},
    {"SystemSharedMemoryUnregister", ApiGroup::kSharedMemory},
    {"CudaSharedMemoryStatus", ApiGroup::kSharedMemory},
    {"CudaSharedMemoryRegister", ApiGroup::kSharedMemory},
    {"CudaSharedMemoryUnregister", ApiGroup::kSharedMemory},
    {"TraceSetting", ApiGroup::kTrace},
    {"LogSettings", ApiGroup::kLogging},
};

}  // namespace

std::optional<ApiGroup> GroupOfMethod(absl::string_view full_name) {
  if (absl::StartsWith(full_name, "/grpc.health.v1.Health/")) return ApiGroup::kHealth;
  if (absl::StartsWith(full_name, "/grpc.reflection.v1")) return ApiGroup::kMetadata;
  if (!absl::ConsumePrefix(&full_name, kInferenceService)) return std::nullopt;
  for (const Method& method : kMethods) {
    if (method.rpc == full_name) return method.group;
  }
  return std::nullopt;
}

}  // namespace nereid
