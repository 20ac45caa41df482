// The C functions of libtriton_pytorch.so.
#include "backends/sdk/entry.h"
#include "backends/pytorch/environment.h"
#include "backends/pytorch/instance.h"
#include "backends/pytorch/model.h"

using nereid_backend::Batch;
using nereid_backend::Environment;
using nereid_backend::Error;
using nereid_backend::Guard;
using nereid_backend::TorchInstance;
using nereid_backend::TorchModel;

namespace {

Error StartBackend(TRITONBACKEND_Backend* backend) {
  NB_RETURN_IF_ERROR(nereid_backend::RequireApi(10));
  NB_ASSIGN_OR_RETURN(std::unique_ptr<Environment> environment, Environment::Create());
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
               [&] { return nereid_backend::InitializeModel<TorchModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return Guard("ModelFinalize", [&] { return nereid_backend::FinalizeModel<TorchModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceInitialize", [&] {
    return nereid_backend::InitializeInstance<TorchInstance, TorchModel>(instance);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceFinalize",
               [&] { return nereid_backend::FinalizeInstance<TorchInstance>(instance); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  return nereid_backend::RunBatch(instance, requests, request_count, [&](Batch& batch) {
    return nereid_backend::InstanceStateOf<TorchInstance>(instance)->Execute(&batch);
  });
}

void NEREID_BackendReadsPieces(void) {}

}  // extern "C"
