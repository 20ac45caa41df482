// The C functions of libtriton_python.so.
#include "backends/sdk/entry.h"
#include "backends/python/instance.h"
#include "backends/python/model.h"
#include "backends/python/settings.h"

using nereid_backend::Error;
using nereid_backend::Guard;
using nereid_backend::PythonBackend;
using nereid_backend::PythonInstance;
using nereid_backend::PythonModel;
using nereid_backend::PythonSettings;

namespace {

Error StartBackend(TRITONBACKEND_Backend* backend) {
  NB_RETURN_IF_ERROR(nereid_backend::RequireApi(10));
  NB_ASSIGN_OR_RETURN(PythonSettings settings, PythonSettings::Read(backend));
  return nereid_backend::InitializeBackend(backend,
                                           std::make_unique<PythonBackend>(std::move(settings)));
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  return Guard("Initialize", [&] { return StartBackend(backend); });
}

TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend) {
  return Guard("Finalize", [&] { return nereid_backend::FinalizeBackend<PythonBackend>(backend); });
}

// A process takes a while to start, so the processes of a model start in parallel.
TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(
    TRITONBACKEND_Backend*, TRITONBACKEND_BackendAttribute* backend_attributes) {
  return TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(backend_attributes, true);
}

TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return Guard("ModelInitialize",
               [&] { return nereid_backend::InitializeModel<PythonModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return Guard("ModelFinalize", [&] { return nereid_backend::FinalizeModel<PythonModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceInitialize", [&] {
    return nereid_backend::InitializeInstance<PythonInstance, PythonModel>(instance);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceFinalize",
               [&] { return nereid_backend::FinalizeInstance<PythonInstance>(instance); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  return Guard("ModelInstanceExecute", [&]() -> Error {
    nereid_backend::InstanceStateOf<PythonInstance>(instance)->Execute(requests, request_count);
    return Error();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceReady",
               [&] { return nereid_backend::InstanceStateOf<PythonInstance>(instance)->Ready(); });
}

void NEREID_BackendReadsPieces(void) {}

}  // extern "C"
