// The C functions of libtriton_tensorflow.so.
#include "backends/sdk/entry.h"
#include "backends/tensorflow/instance.h"
#include "backends/tensorflow/model.h"
#include "backends/tensorflow/settings.h"

using nereid_backend::BackendSettings;
using nereid_backend::Batch;
using nereid_backend::Error;
using nereid_backend::Guard;
using nereid_backend::TensorflowInstance;
using nereid_backend::TensorflowModel;

namespace {

Error StartBackend(TRITONBACKEND_Backend* backend) {
  NB_RETURN_IF_ERROR(nereid_backend::RequireApi(10));
  NB_ASSIGN_OR_RETURN(std::unique_ptr<BackendSettings> settings, BackendSettings::Read(backend));
  return nereid_backend::InitializeBackend(backend, std::move(settings));
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  return Guard("Initialize", [&] { return StartBackend(backend); });
}

TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend) {
  return Guard("Finalize",
               [&] { return nereid_backend::FinalizeBackend<BackendSettings>(backend); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return Guard("ModelInitialize",
               [&] { return nereid_backend::InitializeModel<TensorflowModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return Guard("ModelFinalize",
               [&] { return nereid_backend::FinalizeModel<TensorflowModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceInitialize", [&] {
    return nereid_backend::InitializeInstance<TensorflowInstance, TensorflowModel>(instance);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceFinalize",
               [&] { return nereid_backend::FinalizeInstance<TensorflowInstance>(instance); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  return nereid_backend::RunBatch(instance, requests, request_count, [&](Batch& batch) {
    return nereid_backend::InstanceStateOf<TensorflowInstance>(instance)->Execute(&batch);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceReady", [&] {
    return nereid_backend::InstanceStateOf<TensorflowInstance>(instance)->Ready();
  });
}

void NEREID_BackendReadsPieces(void) {}

}  // extern "C"
