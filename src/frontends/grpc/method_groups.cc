// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/method_groups.h"

#include <absl/strings/match.h>
#include <absl/strings/strip.h>
#include <absl/types/span.h>

namespace nereid {
namespace {

struct Method {
  absl::string_view rpc;
  ApiGroup group;
};

constexpr absl::string_view kInferenceService = "/inference.GRPCInferenceService/";
constexpr absl::string_view kServing = "/tensorflow.serving.";
constexpr Method kServingMethods[] = {
    {"PredictionService/Predict", ApiGroup::kInference},
    {"PredictionService/Classify", ApiGroup::kInference},
    {"PredictionService/Regress", ApiGroup::kInference},
    {"PredictionService/GetModelMetadata", ApiGroup::kMetadata},
    {"ModelService/GetModelStatus", ApiGroup::kMetadata},
};
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

std::optional<ApiGroup> Find(absl::Span<const Method> methods, absl::string_view rpc) {
  for (const Method& method : methods) {
    if (method.rpc == rpc) return method.group;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ApiGroup> GroupOfMethod(absl::string_view full_name) {
  if (absl::StartsWith(full_name, "/grpc.health.v1.Health/")) return ApiGroup::kHealth;
  if (absl::StartsWith(full_name, "/grpc.reflection.v1")) return ApiGroup::kMetadata;
  if (absl::ConsumePrefix(&full_name, kServing)) return Find(kServingMethods, full_name);
  if (absl::ConsumePrefix(&full_name, kInferenceService)) return Find(kMethods, full_name);
  return std::nullopt;
}

}  // namespace nereid
