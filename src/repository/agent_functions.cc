// SPDX-License-Identifier: Apache-2.0
// The TRITONREPOAGENT_* functions that the server offers to an agent.
#include <absl/strings/str_cat.h>

#include "c_objects/error.h"
#include "c_objects/message.h"
#include "repository/agent_model.h"

using nereid::AgentModel;
using nereid::CaughtError;
using nereid::RepositoryAgent;
using nereid::ToCError;

namespace {

AgentModel* Unwrap(TRITONREPOAGENT_AgentModel* model) {
  return reinterpret_cast<AgentModel*>(model);
}
RepositoryAgent* Unwrap(TRITONREPOAGENT_Agent* agent) {
  return reinterpret_cast<RepositoryAgent*>(agent);
}

absl::Status CheckArtifact(TRITONREPOAGENT_ArtifactType type) {
  if (type == TRITONREPOAGENT_ARTIFACT_FILESYSTEM) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "Unexpected artifact type, expects 'TRITONREPOAGENT_ARTIFACT_FILESYSTEM'");
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONREPOAGENT_ApiVersion(uint32_t* major, uint32_t* minor) try {
  *major = TRITONREPOAGENT_API_VERSION_MAJOR;
  *minor = TRITONREPOAGENT_API_VERSION_MINOR;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocation(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ArtifactType* artifact_type, const char** location) try {
  *artifact_type = TRITONREPOAGENT_ARTIFACT_FILESYSTEM;
  *location = Unwrap(model)->location().c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationAcquire(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    const TRITONREPOAGENT_ArtifactType artifact_type, const char** location) try {
  if (const absl::Status known = CheckArtifact(artifact_type); !known.ok()) return ToCError(known);
  const absl::StatusOr<const char*> acquired = Unwrap(model)->AcquireLocation();
  if (!acquired.ok()) return ToCError(acquired.status());
  *location = *acquired;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationRelease(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, const char* location) try {
  return ToCError(Unwrap(model)->ReleaseLocation(location == nullptr ? "" : location));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryUpdate(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    const TRITONREPOAGENT_ArtifactType artifact_type, const char* location) try {
  if (const absl::Status known = CheckArtifact(artifact_type); !known.ok()) return ToCError(known);
  return ToCError(Unwrap(model)->SetLocation(location == nullptr ? "" : location));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelParameterCount(TRITONREPOAGENT_Agent* agent,
                                                        TRITONREPOAGENT_AgentModel* model,
                                                        uint32_t* count) try {
  *count = static_cast<uint32_t>(Unwrap(model)->spec().parameters.size());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelParameter(TRITONREPOAGENT_Agent* agent,
                                                   TRITONREPOAGENT_AgentModel* model,
                                                   const uint32_t index,
                                                   const char** parameter_name,
                                                   const char** parameter_value) try {
  const auto& parameters = Unwrap(model)->spec().parameters;
  if (index >= parameters.size()) {
    return ToCError(absl::InvalidArgumentError(absl::StrCat(
        "index ", index, " is out of range: the agent has ", parameters.size(), " parameters")));
  }
  *parameter_name = parameters[index].first.c_str();
  *parameter_value = parameters[index].second.c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelConfig(TRITONREPOAGENT_Agent* agent,
                                                TRITONREPOAGENT_AgentModel* model,
                                                const uint32_t config_version,
                                                TRITONSERVER_Message** model_config) try {
  if (config_version != 1) {
    return ToCError(
        absl::InvalidArgumentError(absl::StrCat("model configuration version ", config_version,
                                                " not supported, supported versions are: 1")));
  }
  *model_config = new TRITONSERVER_Message{Unwrap(model)->config_json()};
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelState(TRITONREPOAGENT_AgentModel* model,
                                               void** state) try {
  *state = Unwrap(model)->state;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelSetState(TRITONREPOAGENT_AgentModel* model,
                                                  void* state) try {
  Unwrap(model)->state = state;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONREPOAGENT_State(TRITONREPOAGENT_Agent* agent, void** state) try {
  *state = Unwrap(agent)->state;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONREPOAGENT_SetState(TRITONREPOAGENT_Agent* agent, void* state) try {
  Unwrap(agent)->state = state;
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
