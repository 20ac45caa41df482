// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_Server*: a server's life, health, reports and models, and issuing requests.
#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "c_api/handles.h"
#include "c_api/message.h"
#include "c_api/parameter.h"
#include "c_api/server_options.h"
#include "c_objects/error.h"
#include "infer/inline_turn.h"
#include "nereid/server.h"

using nereid::CaughtError;
using nereid::ReturnMessage;
using nereid::Server;
using nereid::ServingModel;
using nereid::Text;
using nereid::ToCError;
using nereid::ToJson;
using nereid::Unwrap;

namespace {

constexpr uint32_t kConfigVersion = 1;

// Writes the value to `*out`, or false for an error.
TRITONSERVER_Error* ReturnBool(const absl::StatusOr<bool>& value, bool* out) {
  *out = value.ok() && *value;
  return ToCError(value.status());
}

template <typename Report>
absl::StatusOr<std::string> JsonOf(const absl::StatusOr<Report>& report) {
  if (!report.ok()) return report.status();
  return ToJson(*report);
}

// Writes `yes` to `*flags` if the model has `property`, otherwise `no`.
template <typename Property>
TRITONSERVER_Error* ReturnFlag(TRITONSERVER_Server* server, const char* model_name,
                               int64_t model_version, const Property& property, uint32_t yes,
                               uint32_t no, uint32_t* flags, void** voidp) {
  if (voidp != nullptr) *voidp = nullptr;
  const absl::StatusOr<std::shared_ptr<ServingModel>> model =
      Unwrap(server)->FindModel(Text(model_name), model_version);
  if (!model.ok()) return ToCError(model.status());
  *flags = property((*model)->config()) ? yes : no;
  return nullptr;
}

// Whether this thread is inside NEREID_ServerInferInline. A call from within, of a callback or a
// backend, must not lend the thread again: it could wait for what only the outer call can finish.
thread_local bool lends_this_thread = false;

// Issues a request. `turn` may execute it on this thread; null: none may.
TRITONSERVER_Error* Issue(TRITONSERVER_Server* server, TRITONSERVER_InferenceRequest* handle,
                          TRITONSERVER_InferenceTrace* trace, nereid::InlineTurn* turn) {
  std::unique_ptr<nereid::InferenceTrace> taken(Unwrap(trace));
  nereid::InferRequest* const request = Unwrap(handle);
  // Every flight sets the turn, so that a request never keeps that of its last flight.
  if (!request->in_flight()) request->set_inline_turn(turn);
  return ToCError(Unwrap(server)->Infer(request, HoldTrace(std::move(taken))));
}

nereid::LoadParameter ToLoadParameter(const TRITONSERVER_Parameter& parameter) {
  using Type = nereid::LoadParameter::Type;
  switch (parameter.type()) {
    case TRITONSERVER_PARAMETER_STRING:
      return {parameter.name, Type::kString, std::get<std::string>(parameter.value)};
    case TRITONSERVER_PARAMETER_INT:
      return {parameter.name, Type::kInt, ""};
    case TRITONSERVER_PARAMETER_BOOL:
      return {parameter.name, Type::kBool, ""};
    case TRITONSERVER_PARAMETER_DOUBLE:
      return {parameter.name, Type::kDouble, ""};
    case TRITONSERVER_PARAMETER_BYTES:
      break;
  }
  const auto bytes = std::get<absl::Span<const char>>(parameter.value);
  return {parameter.name, Type::kBytes, std::string(bytes.data(), bytes.size())};
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerNew(TRITONSERVER_Server** server,
                                           TRITONSERVER_ServerOptions* options) try {
  nereid::ServerOptions all = options->options;
  // Existing tests for Triton set these delays in the environment.
  all.hold_until_queued = nereid::HoldFromText(std::getenv("TRITONSERVER_DELAY_SCHEDULER"));
  all.hold_until_backlogged =
      nereid::HoldFromText(std::getenv("TRITONSERVER_BACKLOG_DELAY_SCHEDULER"));
  absl::StatusOr<Server::Owner> created = Server::Create(all);
  if (!created.ok()) return ToCError(created.status());
  *server = nereid::Wrap(created->release());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerDelete(TRITONSERVER_Server* server) try {
  if (server == nullptr) return nullptr;
  // Work that does not stop in time still uses the server, so the server is not freed.
  if (absl::Status stopped = Unwrap(server)->Stop(); !stopped.ok()) return ToCError(stopped);
  Server::End()(Unwrap(server));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerStop(TRITONSERVER_Server* server) try {
  return ToCError(Unwrap(server)->Stop());
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerSetExitTimeout(TRITONSERVER_Server* server,
                                                      unsigned int timeout) try {
  Unwrap(server)->SetExitTimeout(timeout);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerIsLive(TRITONSERVER_Server* server, bool* live) try {
  return ReturnBool(Unwrap(server)->IsLive(), live);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerIsReady(TRITONSERVER_Server* server, bool* ready) try {
  return ReturnBool(Unwrap(server)->IsReady(), ready);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerModelIsReady(TRITONSERVER_Server* server,
                                                    const char* model_name,
                                                    const int64_t model_version, bool* ready) try {
  return ReturnBool(Unwrap(server)->IsModelReady(Text(model_name), model_version), ready);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerModelBatchProperties(TRITONSERVER_Server* server,
                                                            const char* model_name,
                                                            const int64_t model_version,
                                                            uint32_t* flags, void** voidp) try {
  return ReturnFlag(
      server, model_name, model_version,
      [](const nereid::CompiledModel& model) { return model.max_batch_size > 0; },
      TRITONSERVER_BATCH_FIRST_DIM, TRITONSERVER_BATCH_UNKNOWN, flags, voidp);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerModelTransactionProperties(TRITONSERVER_Server* server,
                                                                  const char* model_name,
                                                                  const int64_t model_version,
                                                                  uint32_t* txn_flags,
                                                                  void** voidp) try {
  return ReturnFlag(
      server, model_name, model_version,
      [](const nereid::CompiledModel& model) { return model.decoupled; },
      TRITONSERVER_TXN_DECOUPLED, TRITONSERVER_TXN_ONE_TO_ONE, txn_flags, voidp);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerMetadata(TRITONSERVER_Server* server,
                                                TRITONSERVER_Message** server_metadata) try {
  return ReturnMessage(ToJson(Unwrap(server)->Metadata()), server_metadata);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerModelMetadata(TRITONSERVER_Server* server,
                                                     const char* model_name,
                                                     const int64_t model_version,
                                                     TRITONSERVER_Message** model_metadata) try {
  return ReturnMessage(JsonOf(Unwrap(server)->GetModelMetadata(Text(model_name), model_version)),
                       model_metadata);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerModelStatistics(TRITONSERVER_Server* server,
                                                       const char* model_name,
                                                       const int64_t model_version,
                                                       TRITONSERVER_Message** model_stats) try {
  return ReturnMessage(JsonOf(Unwrap(server)->Statistics(Text(model_name), model_version)),
                       model_stats);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerModelConfig(TRITONSERVER_Server* server,
                                                   const char* model_name,
                                                   const int64_t model_version,
                                                   const uint32_t config_version,
                                                   TRITONSERVER_Message** model_config) try {
  if (config_version != kConfigVersion) {
    return ToCError(absl::InvalidArgumentError(
        absl::StrCat("model configuration version ", config_version,
                     " not supported, supported versions are: ", kConfigVersion)));
  }
  return ReturnMessage(Unwrap(server)->ModelConfigJson(Text(model_name), model_version),
                       model_config);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerModelIndex(TRITONSERVER_Server* server, uint32_t flags,
                                                  TRITONSERVER_Message** model_index) try {
  const bool ready_only = (flags & TRITONSERVER_INDEX_FLAG_READY) != 0;
  return ReturnMessage(JsonOf(Unwrap(server)->RepositoryIndex(ready_only)), model_index);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerLoadModel(TRITONSERVER_Server* server,
                                                 const char* model_name) try {
  return ToCError(Unwrap(server)->LoadModel(Text(model_name)));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerLoadModelWithParameters(
    TRITONSERVER_Server* server, const char* model_name, const TRITONSERVER_Parameter** parameters,
    const uint64_t parameter_count) try {
  if (parameters == nullptr && parameter_count > 0) {
    return ToCError(absl::InvalidArgumentError(
        "load parameters are not provided while parameter count is non-zero"));
  }
  std::vector<nereid::LoadParameter> load;
  for (uint64_t i = 0; i < parameter_count; ++i) load.push_back(ToLoadParameter(*parameters[i]));
  return ToCError(Unwrap(server)->LoadModel(Text(model_name), load));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerUnloadModel(TRITONSERVER_Server* server,
                                                   const char* model_name) try {
  return ToCError(Unwrap(server)->UnloadModel(Text(model_name)));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerUnloadModelAndDependents(TRITONSERVER_Server* server,
                                                                const char* model_name) try {
  return ToCError(Unwrap(server)->UnloadModel(Text(model_name), /*with_members=*/true));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerRegisterModelRepository(
    TRITONSERVER_Server* server, const char* repository_path,
    const TRITONSERVER_Parameter** name_mapping, const uint32_t mapping_count) try {
  nereid::GivenNames names;
  for (uint32_t i = 0; i < mapping_count; ++i) {
    const TRITONSERVER_Parameter& mapping = *name_mapping[i];
    if (mapping.type() != TRITONSERVER_PARAMETER_STRING) {
      return ToCError(absl::InvalidArgumentError(
          absl::StrCat("the name of the model in '", mapping.name, "' must be a string")));
    }
    names.emplace_back(mapping.name, std::get<std::string>(mapping.value));
  }
  return ToCError(Unwrap(server)->RegisterRepository(Text(repository_path), names));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerUnregisterModelRepository(TRITONSERVER_Server* server,
                                                                 const char* repository_path) try {
  return ToCError(Unwrap(server)->UnregisterRepository(Text(repository_path)));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerPollModelRepository(TRITONSERVER_Server* server) try {
  return ToCError(Unwrap(server)->PollRepository());
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerInferAsync(TRITONSERVER_Server* server,
                                                  TRITONSERVER_InferenceRequest* inference_request,
                                                  TRITONSERVER_InferenceTrace* trace) try {
  return Issue(server, inference_request, trace, nullptr);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_ServerInferInline(TRITONSERVER_Server* server,
                                             TRITONSERVER_InferenceRequest* inference_request,
                                             TRITONSERVER_InferenceTrace* trace) try {
  if (lends_this_thread) return Issue(server, inference_request, trace, nullptr);
  lends_this_thread = true;
  nereid::InlineTurn turn;
  const absl::Cleanup end = [&turn] {
    turn.End();
    lends_this_thread = false;
  };
  return Issue(server, inference_request, trace, &turn);
} catch (...) {
  return CaughtError();
}

}  // extern "C"
