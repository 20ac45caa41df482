// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_Model* functions.
#include <absl/strings/str_cat.h>

#include "backend_host/api/handles.h"
#include "c_objects/error.h"

using nereid::CaughtError;
using nereid::ToCError;
using nereid::Unwrap;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model* model, const char** name) try {
  *name = Unwrap(model)->name().c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* model, uint64_t* version) try {
  *version = static_cast<uint64_t>(Unwrap(model)->options().version);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model* model,
                                                  TRITONBACKEND_ArtifactType* artifact_type,
                                                  const char** location) try {
  *artifact_type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  *location = Unwrap(model)->options().repository_dir.c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model,
                                              const uint32_t config_version,
                                              TRITONSERVER_Message** model_config) try {
  if (config_version != 1) {
    return ToCError(
        absl::InvalidArgumentError(absl::StrCat("model configuration version ", config_version,
                                                " not supported, supported versions are: 1")));
  }
  *model_config = new TRITONSERVER_Message{Unwrap(model)->config().Json()};
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model* model,
                                                          bool* auto_complete_config) try {
  *auto_complete_config = Unwrap(model)->options().auto_complete_config;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model* model,
                                                 const uint32_t config_version,
                                                 TRITONSERVER_Message* model_config) try {
  return ToCError(Unwrap(model)->SetConfig(config_version, model_config->json));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelServer(TRITONBACKEND_Model* model,
                                              TRITONSERVER_Server** server) try {
  *server = static_cast<TRITONSERVER_Server*>(Unwrap(model)->options().server);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelBackend(TRITONBACKEND_Model* model,
                                               TRITONBACKEND_Backend** backend) try {
  *backend = reinterpret_cast<TRITONBACKEND_Backend*>(Unwrap(model)->backend().get());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model* model, void** state) try {
  *state = Unwrap(model)->state;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* model, void* state) try {
  Unwrap(model)->state = state;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ModelReportMemoryUsage(TRITONBACKEND_Model* model,
                                                         TRITONSERVER_BufferAttributes** usage,
                                                         uint32_t usage_size) try {
  std::vector<TRITONSERVER_BufferAttributes> reports;
  for (uint32_t i = 0; i < usage_size; ++i) reports.push_back(*usage[i]);
  Unwrap(model)->ReportMemory(std::move(reports));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_ModelExecutesBriefly(TRITONBACKEND_Model* model) try {
  return ToCError(Unwrap(model)->SetExecutesBriefly());
} catch (...) {
  return CaughtError();
}

}  // extern "C"
