// SPDX-License-Identifier: Apache-2.0
#include "flags/cloud_environment.h"

#include <absl/strings/str_cat.h>

#include <string>

#include "options/flag_values.h"

namespace nereid {
namespace {

std::string Variable(const Environment& environment, const char* name) {
  const char* const value = environment(name);
  return value == nullptr ? "" : value;
}

absl::Status ReadPort(const Environment& environment, const char* name, uint16_t* port) {
  const std::string text = Variable(environment, name);
  if (text.empty()) return absl::OkStatus();
  int64_t number = 0;
  const absl::Status parsed = ParseInteger(text, 0, 65535, &number);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Bad option: \"", name, "\".\n", parsed.message()));
  }
  *port = static_cast<uint16_t>(number);
  return absl::OkStatus();
}

absl::Status ReadVertexAi(const Environment& environment, Settings* settings) {
  VertexAiSettings* const vertex = &settings->vertex_ai;
  if (Variable(environment, "AIP_MODE") == "PREDICTION") {
    vertex->listen.allow = true;
    settings->allow_http = false;
    settings->allow_grpc = false;
  }
  vertex->predict_route = Variable(environment, "AIP_PREDICT_ROUTE");
  vertex->health_route = Variable(environment, "AIP_HEALTH_ROUTE");
  vertex->storage_uri = Variable(environment, "AIP_STORAGE_URI");
  return ReadPort(environment, "AIP_HTTP_PORT", &vertex->listen.port);
}

absl::Status BadChoice(const char* name, const std::string& value, const char* choices) {
  return absl::InvalidArgumentError(
      absl::StrCat("Bad option: \"", name, "\".\ninvalid value '", value, "' (use ", choices, ")"));
}

absl::Status ReadSagemaker(const Environment& environment, SagemakerSettings* sagemaker) {
  sagemaker->default_model = Variable(environment, "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME");
  const std::string ping = Variable(environment, "SAGEMAKER_TRITON_PING_MODE");
  if (!ping.empty() && ping != "ready" && ping != "live") {
    return BadChoice("SAGEMAKER_TRITON_PING_MODE", ping, "ready or live");
  }
  sagemaker->ping_live = ping == "live";
  const std::string inference = Variable(environment, "SAGEMAKER_TRITON_INFERENCE_TYPE");
  if (inference.empty()) return absl::OkStatus();
  if (inference != "infer" && inference != "generate" && inference != "generate_stream") {
    return BadChoice("SAGEMAKER_TRITON_INFERENCE_TYPE", inference,
                     "infer, generate or generate_stream");
  }
  sagemaker->inference = inference;
  return absl::OkStatus();
}

}  // namespace

void ReadCloudEnvironment(const Environment& environment, Settings* settings) {
  settings->vertex_ai_environment = ReadVertexAi(environment, settings);
  settings->sagemaker_environment = ReadSagemaker(environment, &settings->sagemaker);
}

}  // namespace nereid
