// The C functions of libtriton_onnxruntime.so.
#include "backends/sdk/entry.h"
#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/instance.h"
#include "backends/onnxruntime/model.h"
#include "backends/sdk/model_config.h"

using nereid_backend::Batch;
using nereid_backend::Environment;
using nereid_backend::Error;
using nereid_backend::Guard;
using nereid_backend::OnnxInstance;
using nereid_backend::OnnxModel;

namespace {

nereid_backend::Result<std::string> FolderOf(TRITONBACKEND_Backend* backend) {
  TRITONBACKEND_ArtifactType type;
  const char* location = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_BackendArtifacts(backend, &type, &location));
  return std::string(location);
}

Error StartBackend(TRITONBACKEND_Backend* backend) {
  NB_RETURN_IF_ERROR(nereid_backend::RequireApi(10));
  NB_ASSIGN_OR_RETURN(const nereid_backend::Json settings,
                      nereid_backend::ReadBackendSettings(backend));
  NB_ASSIGN_OR_RETURN(const std::string folder, FolderOf(backend));
  NB_ASSIGN_OR_RETURN(std::unique_ptr<Environment> environment,
                      Environment::Create(settings, folder));
  return nereid_backend::InitializeBackend(backend, std::move(environment));
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  return Guard("Initialize", [&] { return StartBackend(backend); });
}

TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend) {
  return Guard("Finalize", [&] { return nereid_backend::FinalizeBackend<Environment>(backend); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return Guard("ModelInitialize",
               [&] { return nereid_backend::InitializeModel<OnnxModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return Guard("ModelFinalize", [&] { return nereid_backend::FinalizeModel<OnnxModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceInitialize", [&] {
    return nereid_backend::InitializeInstance<OnnxInstance, OnnxModel>(instance);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceFinalize",
               [&] { return nereid_backend::FinalizeInstance<OnnxInstance>(instance); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  return nereid_backend::RunBatch(instance, requests, request_count, [&](Batch& batch) {
    return nereid_backend::InstanceStateOf<OnnxInstance>(instance)->Execute(&batch);
  });
}

void NEREID_BackendExecutesBriefly(void) {}
void NEREID_BackendReadsPieces(void) {}

}  // extern "C"
