// The C functions of libtriton_openvino.so.
#include "backends/sdk/entry.h"
#include "backends/openvino/environment.h"
#include "backends/openvino/instance.h"
#include "backends/openvino/model.h"
#include "backends/sdk/model_config.h"

using nereid_backend::Environment;
using nereid_backend::Error;
using nereid_backend::Guard;
using nereid_backend::OpenVinoInstance;
using nereid_backend::OpenVinoModel;

namespace {

Error StartBackend(TRITONBACKEND_Backend* backend) {
  NB_RETURN_IF_ERROR(nereid_backend::RequireApi(10));
  NB_ASSIGN_OR_RETURN(const nereid_backend::Json settings,
                      nereid_backend::ReadBackendSettings(backend));
  NB_ASSIGN_OR_RETURN(std::unique_ptr<Environment> environment, Environment::Create(settings));
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
               [&] { return nereid_backend::InitializeModel<OpenVinoModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return Guard("ModelFinalize",
               [&] { return nereid_backend::FinalizeModel<OpenVinoModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceInitialize", [&] {
    return nereid_backend::InitializeInstance<OpenVinoInstance, OpenVinoModel>(instance);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceFinalize",
               [&] { return nereid_backend::FinalizeInstance<OpenVinoInstance>(instance); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  return nereid_backend::InstanceStateOf<OpenVinoInstance>(instance)->Execute(requests,
                                                                              request_count);
}

// Not NEREID_BackendExecutesBriefly: an instance with several batches in progress waits for one of
// them, although its executions look short.
void NEREID_BackendReadsPieces(void) {}

}  // extern "C"
