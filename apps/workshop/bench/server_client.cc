// SPDX-License-Identifier: Apache-2.0
#include "bench/server_client.h"

#include <absl/strings/str_cat.h>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "bench/control_call.h"
#include "frontends/tracing/protobuf_text.h"
#include "probe/http_get.h"

namespace nereid::bench {
namespace {

// ModelMetadataRequest, ModelConfigRequest and ModelStatisticsRequest have the same fields.
std::string ModelMessage(const BenchOptions& options) {
  ProtobufText text;
  text.Bytes(1, options.model);
  if (!options.version.empty()) text.Bytes(2, options.version);
  return text.Take();
}

}  // namespace

std::string ServerClient::ModelPath() const {
  std::string path = absl::StrCat("/v2/models/", PathSegmentOf(options_.model));
  if (!options_.version.empty()) absl::StrAppend(&path, "/versions/", options_.version);
  return path;
}

absl::StatusOr<ModelDescription> ServerClient::Describe() const {
  if (options_.grpc()) {
    ASSIGN_OR_RETURN(const std::string metadata,
                     CallGrpc(endpoint_, "ModelMetadata", ModelMessage(options_)));
    ASSIGN_OR_RETURN(ModelDescription model, MetadataFromProto(metadata));
    const auto config = CallGrpc(endpoint_, "ModelConfig", ModelMessage(options_));
    if (config.ok()) RETURN_IF_ERROR(AddConfigFromProto(*config, &model));
    return model;
  }
  ASSIGN_OR_RETURN(const std::string metadata, CallHttp(endpoint_, "GET", ModelPath()));
  ASSIGN_OR_RETURN(ModelDescription model, MetadataFromJson(metadata));
  const auto config = CallHttp(endpoint_, "GET", ModelPath() + "/config");
  if (config.ok()) RETURN_IF_ERROR(AddConfigFromJson(*config, &model));
  return model;
}

absl::StatusOr<ModelCounts> ServerClient::Counts() const {
  if (options_.grpc()) {
    ASSIGN_OR_RETURN(const std::string answer,
                     CallGrpc(endpoint_, "ModelStatistics", ModelMessage(options_)));
    return CountsFromProto(answer);
  }
  ASSIGN_OR_RETURN(const std::string answer, CallHttp(endpoint_, "GET", ModelPath() + "/stats"));
  return CountsFromJson(answer);
}

absl::Status ServerClient::RegisterMemory(const std::string& name, const std::string& key,
                                          size_t bytes) const {
  if (options_.grpc()) {
    ProtobufText text;
    text.Bytes(1, name);
    text.Bytes(2, key);
    text.Varint(4, bytes);
    return CallGrpc(endpoint_, "SystemSharedMemoryRegister", text.Take()).status();
  }
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  json.Add("key", key);
  json.Add("offset", 0);
  json.Add("byte_size", bytes);
  json.EndObject();
  return CallHttp(endpoint_, "POST",
                  absl::StrCat("/v2/systemsharedmemory/region/", name, "/register"), body)
      .status();
}

absl::Status ServerClient::UnregisterMemory(const std::string& name) const {
  if (options_.grpc()) {
    ProtobufText text;
    text.Bytes(1, name);
    return CallGrpc(endpoint_, "SystemSharedMemoryUnregister", text.Take()).status();
  }
  return CallHttp(endpoint_, "POST",
                  absl::StrCat("/v2/systemsharedmemory/region/", name, "/unregister"))
      .status();
}

}  // namespace nereid::bench
