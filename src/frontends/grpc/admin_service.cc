// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/admin_service.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "config/json.h"
#include "frontends/codec/known_names.h"
#include "frontends/grpc/bind_method.h"
#include "frontends/grpc/log_settings_rpc.h"
#include "frontends/grpc/model_version.h"
#include "frontends/grpc/reports_to_proto.h"
#include "frontends/grpc/serving_status.h"
#include "frontends/grpc/tfs/tfs_service.h"
#include "frontends/tracing/trace_service.h"
#include "grpc_service.pb.h"
#include "health.pb.h"

namespace nereid {
namespace {

using health::v1::HealthCheckRequest;
using health::v1::HealthCheckResponse;

constexpr char kInferenceService[] = "/inference.GRPCInferenceService/";
constexpr char kHealthCheck[] = "/grpc.health.v1.Health/Check";

absl::Status ServerLive(Server* server, const inference::ServerLiveRequest&,
                        inference::ServerLiveResponse* response) {
  ASSIGN_OR_RETURN(const bool live, server->IsLive());
  response->set_live(live);
  return absl::OkStatus();
}

absl::Status ServerReady(Server* server, const inference::ServerReadyRequest&,
                         inference::ServerReadyResponse* response) {
  ASSIGN_OR_RETURN(const bool ready, server->IsReady(ReadinessFrom::kLastAnswer));
  response->set_ready(ready);
  return absl::OkStatus();
}

absl::Status HealthCheck(Server* server, const HealthCheckRequest&, HealthCheckResponse* response) {
  response->set_status(ServingStatus::Now(*server) ? HealthCheckResponse::SERVING
                                                   : HealthCheckResponse::NOT_SERVING);
  return absl::OkStatus();
}

// An unknown model is not ready, which is not an error (over HTTP it is). A server that is stopping
// returns its own error.
absl::Status ModelReady(Server* server, const inference::ModelReadyRequest& request,
                        inference::ModelReadyResponse* response) {
  ASSIGN_OR_RETURN(const int64_t version, ParseModelVersion(request.version()));
  const absl::StatusOr<bool> ready =
      server->IsModelReady(request.name(), version, ReadinessFrom::kLastAnswer);
  if (!ready.ok() && !server->IsLive().ok()) return ready.status();
  response->set_ready(ready.ok() && *ready);
  return absl::OkStatus();
}

absl::Status GetServerMetadata(Server* server, const inference::ServerMetadataRequest&,
                               inference::ServerMetadataResponse* response) {
  ToProto(server->Metadata(), response);
  return absl::OkStatus();
}

absl::Status GetModelMetadata(Server* server, const inference::ModelMetadataRequest& request,
                              inference::ModelMetadataResponse* response) {
  ASSIGN_OR_RETURN(const int64_t version, ParseModelVersion(request.version()));
  ASSIGN_OR_RETURN(const ModelMetadata metadata, server->GetModelMetadata(request.name(), version));
  ToProto(metadata, response);
  return absl::OkStatus();
}

absl::Status GetModelConfig(Server* server, const inference::ModelConfigRequest& request,
                            inference::ModelConfigResponse* response) {
  ASSIGN_OR_RETURN(const int64_t version, ParseModelVersion(request.version()));
  ASSIGN_OR_RETURN(const std::string json, server->ModelConfigJson(request.name(), version));
  ASSIGN_OR_RETURN(*response->mutable_config(), ModelConfigBytesFromJson(json));
  return absl::OkStatus();
}

absl::Status GetStatistics(Server* server, const inference::ModelStatisticsRequest& request,
                           inference::ModelStatisticsResponse* response) {
  ASSIGN_OR_RETURN(const int64_t version, ParseModelVersion(request.version()));
  ASSIGN_OR_RETURN(const std::vector<ModelStatisticsReport> reports,
                   server->Statistics(request.name(), version));
  ToProto(reports, response);
  return absl::OkStatus();
}

absl::Status CheckNoRepository(const std::string& repository_name) {
  if (repository_name.empty()) return absl::OkStatus();
  return absl::UnimplementedError("'repository_name' specification is not supported");
}

absl::Status GetIndex(Server* server, const inference::RepositoryIndexRequest& request,
                      inference::RepositoryIndexResponse* response) {
  RETURN_IF_ERROR(CheckNoRepository(request.repository_name()));
  ASSIGN_OR_RETURN(const std::vector<IndexEntry> index, server->RepositoryIndex(request.ready()));
  ToProto(index, response);
  return absl::OkStatus();
}

// Takes the content of `*value`, which may be a large file.
absl::StatusOr<LoadParameter> ToLoadParameter(const std::string& name,
                                              inference::ModelRepositoryParameter* value) {
  const auto wrong_type = [&](absl::string_view expected) {
    return absl::InvalidArgumentError(absl::StrCat("invalid value type for load parameter '", name,
                                                   "', expected ", expected, "."));
  };
  if (name == "config") {
    if (!value->has_string_param()) return wrong_type("string_param");
    return LoadParameter{name, LoadParameter::Type::kString,
                         std::move(*value->mutable_string_param())};
  }
  if (!absl::StartsWith(name, "file:")) {
    return absl::InvalidArgumentError(absl::StrCat("unrecognized load parameter ", QuotedName(name),
                                                   ". Known: config, file:<path>"));
  }
  if (!value->has_bytes_param()) return wrong_type("bytes_param");
  return LoadParameter{name, LoadParameter::Type::kBytes, std::move(*value->mutable_bytes_param())};
}

absl::Status LoadModel(Server* server, inference::RepositoryModelLoadRequest* request,
                       std::shared_ptr<ControlClient> client, Server::ControlDone done) {
  RETURN_IF_ERROR(CheckNoRepository(request->repository_name()));
  std::vector<LoadParameter> parameters;
  for (auto& [name, value] : *request->mutable_parameters()) {
    ASSIGN_OR_RETURN(LoadParameter parameter, ToLoadParameter(name, &value));
    parameters.push_back(std::move(parameter));
  }
  server->LoadModelAsync(request->model_name(), parameters, std::move(client), std::move(done));
  return absl::OkStatus();
}

absl::Status UnloadModel(Server* server, inference::RepositoryModelUnloadRequest* request,
                         std::shared_ptr<ControlClient> client, Server::ControlDone done) {
  RETURN_IF_ERROR(CheckNoRepository(request->repository_name()));
  for (const auto& [name, value] : request->parameters()) {
    RETURN_IF_ERROR(CheckKnown("unload parameter", name, {"unload_dependents"}));
  }
  bool with_members = false;
  if (const auto it = request->parameters().find("unload_dependents");
      it != request->parameters().end()) {
    if (!it->second.has_bool_param()) {
      return absl::InvalidArgumentError(
          "invalid value type for 'unload_dependents' parameter, expected bool_param.");
    }
    with_members = it->second.bool_param();
  }
  server->UnloadModelAsync(request->model_name(), with_members, std::move(client), std::move(done));
  return absl::OkStatus();
}

absl::Status SystemStatus(SharedMemoryRegistry* memory,
                          const inference::SystemSharedMemoryStatusRequest& request,
                          inference::SystemSharedMemoryStatusResponse* response) {
  ASSIGN_OR_RETURN(const std::vector<SharedMemoryRegion> regions, memory->Regions(request.name()));
  ToProto(regions, response);
  return absl::OkStatus();
}

absl::Status SystemRegister(SharedMemoryRegistry* memory,
                            const inference::SystemSharedMemoryRegisterRequest& request,
                            inference::SystemSharedMemoryRegisterResponse* /*response*/) {
  return memory->Register({request.name(), request.key(), request.offset(), request.byte_size()});
}

absl::Status SystemUnregister(SharedMemoryRegistry* memory,
                              const inference::SystemSharedMemoryUnregisterRequest& request,
                              inference::SystemSharedMemoryUnregisterResponse* /*response*/) {
  return memory->Unregister(request.name());
}

absl::Status CudaStatus(SharedMemoryRegistry* memory,
                        const inference::CudaSharedMemoryStatusRequest& request,
                        inference::CudaSharedMemoryStatusResponse* response) {
  ASSIGN_OR_RETURN(const std::vector<CudaMemoryRegion> regions,
                   memory->CudaRegions(request.name()));
  ToProto(regions, response);
  return absl::OkStatus();
}

absl::Status CudaRegister(SharedMemoryRegistry* memory,
                          const inference::CudaSharedMemoryRegisterRequest& request,
                          inference::CudaSharedMemoryRegisterResponse* /*response*/) {
  return memory->RegisterCuda({request.name(), request.device_id(), request.byte_size()},
                              request.raw_handle());
}

absl::Status CudaUnregister(SharedMemoryRegistry* memory,
                            const inference::CudaSharedMemoryUnregisterRequest& request,
                            inference::CudaSharedMemoryUnregisterResponse* /*response*/) {
  return memory->UnregisterCuda(request.name());
}

// What a method about traces works with.
struct TraceAccess {
  Server* server;
  Tracing* tracing;
};

absl::StatusOr<TraceUpdate> ToTraceUpdate(const inference::TraceSettingRequest& request) {
  TraceUpdate update;
  const auto& settings = request.settings();
  if (settings.contains(kTraceFileKey)) return TraceFileIsFixed();
  for (const auto& [name, value] : settings) {
    RETURN_IF_ERROR(CheckKnown(kTraceSettingKind, name, kTraceSettingNames));
  }
  for (const char* key : {kTraceLevelKey, kTraceRateKey, kTraceCountKey, kLogFrequencyKey}) {
    const auto it = settings.find(key);
    if (it == settings.end()) continue;
    const auto& values = it->second.value();
    if (values.empty()) {
      ClearTraceSetting(key, &update);
    } else if (it->first == kTraceLevelKey) {
      const std::vector<absl::string_view> words(values.begin(), values.end());
      RETURN_IF_ERROR(SetTraceLevel(words, &update));
    } else if (values.size() > 1) {
      return absl::InvalidArgumentError(absl::StrCat("expect only 1 value for '", key, "'"));
    } else {
      RETURN_IF_ERROR(SetTraceNumber(key, values.Get(0), &update));
    }
  }
  return update;
}

absl::Status TraceSetting(TraceAccess access, const inference::TraceSettingRequest& request,
                          inference::TraceSettingResponse* response) {
  RETURN_IF_ERROR(CheckTraceModel(*access.server, request.model_name()));
  ASSIGN_OR_RETURN(const TraceUpdate update, ToTraceUpdate(request));
  ASSIGN_OR_RETURN(
      const std::vector<TraceSettingText> settings,
      UpdateTraceSettings(*access.server, access.tracing, request.model_name(), update));
  for (const TraceSettingText& setting : settings) {
    auto& values = (*response->mutable_settings())[setting.key];
    for (const std::string& value : setting.values) values.add_value(value);
  }
  return absl::OkStatus();
}

// As BindMethod, for a method whose result comes later and whose response is an empty message. An
// error that it returns is the result.
template <typename Request>
AdminService::Method BindControl(Server* server,
                                 absl::Status (*method)(Server*, Request*,
                                                        std::shared_ptr<ControlClient>,
                                                        Server::ControlDone)) {
  return {&Request::default_instance(), [server, method](google::protobuf::Message* request,
                                                         std::shared_ptr<ControlClient> client,
                                                         const AdminService::Reply& reply) {
            absl::Status begun =
                method(server, static_cast<Request*>(request), std::move(client),
                       [reply](absl::Status status) { reply(std::move(status), ""); });
            if (!begun.ok()) reply(std::move(begun), "");
          }};
}

AdminService::Method AtOnce(AdminService::Method method) {
  method.at_once = true;
  return method;
}

void AddMethods(Server* server, SharedMemoryRegistry* memory, Tracing* tracing,
                AdminService::Methods* methods) {
  using Method = AdminService::Method;
  const auto add = [methods](const char* rpc, Method method) {
    methods->emplace(absl::StrCat(kInferenceService, rpc), std::move(method));
  };
  const auto with_files = [](Method method) {
    method.takes_files = true;
    return method;
  };
  add("ServerLive", AtOnce(BindMethod(server, &ServerLive)));
  add("ServerReady", AtOnce(BindMethod(server, &ServerReady)));
  add("ModelReady", AtOnce(BindMethod(server, &ModelReady)));
  add("ServerMetadata", AtOnce(BindMethod(server, &GetServerMetadata)));
  add("ModelMetadata", BindModelMethod(server, &GetModelMetadata));
  add("ModelConfig", BindModelMethod(server, &GetModelConfig));
  add("ModelStatistics", BindMethod(server, &GetStatistics));
  add("RepositoryIndex", BindMethod(server, &GetIndex));
  add("LogSettings", BindMethod(server, &UpdateLogSettings));
  add("RepositoryModelLoad", with_files(BindControl(server, &LoadModel)));
  add("RepositoryModelUnload", BindControl(server, &UnloadModel));
  add("SystemSharedMemoryStatus", BindMethod(memory, &SystemStatus));
  add("SystemSharedMemoryRegister", BindMethod(memory, &SystemRegister));
  add("SystemSharedMemoryUnregister", BindMethod(memory, &SystemUnregister));
  add("CudaSharedMemoryStatus", BindMethod(memory, &CudaStatus));
  add("CudaSharedMemoryRegister", BindMethod(memory, &CudaRegister));
  add("CudaSharedMemoryUnregister", BindMethod(memory, &CudaUnregister));
  add("TraceSetting", BindMethod(TraceAccess{server, tracing}, &TraceSetting));
}

}  // namespace

AdminService::AdminService(GrpcApi api, Server* server, SharedMemoryRegistry* memory,
                           Tracing* tracing)
    : api_(api) {
  if (api == GrpcApi::kTensorFlowServing) {
    AddTfsMethods(server, &methods_);
  } else {
    AddMethods(server, memory, tracing, &methods_);
  }
  methods_.emplace(kHealthCheck, AtOnce(BindMethod(server, &HealthCheck)));
}

absl::StatusOr<const AdminService::Methods::value_type*> AdminService::Find(
    absl::string_view full_name) const {
  const auto it = methods_.find(std::string_view(full_name.data(), full_name.size()));
  if (it != methods_.end()) return &*it;
  const absl::string_view instead =
      api_ == GrpcApi::kTensorFlowServing ? InsteadOfTfsMethod(full_name) : absl::string_view();
  return absl::UnimplementedError(absl::StrCat("this server has no method '", full_name, "'",
                                               instead.empty() ? "" : ": ", instead));
}

}  // namespace nereid
