// TRITONBACKEND_Model* functions.
#include <absl/strings/str_cat.h>

#include "backend_host/api/handles.h"
#include "c_objects/error.h"

using nereid::ToCError;
using nereid::Unwrap;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model* model, const char** name) {
  *name = Unwrap(model)->name().c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* model, uint64_t* version) {
  *version = static_cast<uint64_t>(Unwrap(model)->options().version);
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model* model,
                                                  TRITONBACKEND_ArtifactType* artifact_type,
                                                  const char** location) {
  *artifact_type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  *location = Unwrap(model)->options().repository_dir.c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model,
                                              const uint32_t config_version,
                                              TRITONSERVER_Message** model_config) {
  if (config_version != 1) {
    return ToCError(absl::InvalidArgumentError(
        absl::StrCat("model configuration version ", config_version,
                     " not supported, supported versions are: 1")));
  }
  *model_config = new TRITONSERVER_Message{Unwrap(model)->config().Json()};
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model* model,
                                                          bool* auto_complete_config) {
  *auto_complete_config = Unwrap(model)->options().auto_complete_config;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model* model,
                                                 const uint32_t config_version,
                                                 TRITONSERVER_Message* model_config) {
  return ToCError(Unwrap(model)->SetConfig(config_version, model_config->json));
}

TRITONSERVER_Error* TRITONBACKEND_ModelServer(TRITONBACKEND_Model* model,
                                              TRITONSERVER_Server** server) {
  *server = static_cast<TRITONSERVER_Server*>(Unwrap(model)->options().server);
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelBackend(TRITONBACKEND_Model* model,
                                               TRITONBACKEND_Backend** backend) {
  *backend = reinterpret_cast<TRITONBACKEND_Backend*>(Unwrap(model)->backend().get());
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model* model, void** state) {
  *state = Unwrap(model)->state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* model, void* state) {
  Unwrap(model)->state = state;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelReportMemoryUsage(TRITONBACKEND_Model* model,
                                                         TRITONSERVER_BufferAttributes** usage,
                                                         uint32_t usage_size) {
  std::vector<TRITONSERVER_BufferAttributes> reports;
  for (uint32_t i = 0; i < usage_size; ++i) reports.push_back(*usage[i]);
  Unwrap(model)->ReportMemory(std::move(reports));
  return nullptr;
}

}  // extern "C"
