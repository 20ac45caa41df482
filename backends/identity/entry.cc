// The C functions of libtriton_identity.so.
#include "backends/sdk/entry.h"
#include "backends/identity/identity.h"

using nereid_backend::Batch;
using nereid_backend::Guard;
using nereid_backend::IdentityInstance;
using nereid_backend::IdentityModel;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend*) {
  return Guard("Initialize", [] { return nereid_backend::RequireApi(10); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return Guard("ModelInitialize",
               [&] { return nereid_backend::InitializeModel<IdentityModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return Guard("ModelFinalize",
               [&] { return nereid_backend::FinalizeModel<IdentityModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceInitialize", [&] {
    return nereid_backend::InitializeInstance<IdentityInstance, IdentityModel>(instance);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceFinalize",
               [&] { return nereid_backend::FinalizeInstance<IdentityInstance>(instance); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  return nereid_backend::RunBatch(instance, requests, request_count, [&](Batch& batch) {
    return nereid_backend::InstanceStateOf<IdentityInstance>(instance)->Execute(&batch);
  });
}

void NEREID_BackendExecutesBriefly(void) {}
void NEREID_BackendReadsPieces(void) {}

}  // extern "C"
