// SPDX-License-Identifier: Apache-2.0
// The C functions of libtriton_python.so.
#include "backends/sdk/entry.h"
#include "backends/python/instance.h"
#include "backends/python/model.h"

using nereid_backend::Error;
using nereid_backend::Guard;
using nereid_backend::PythonInstance;

NB_BACKEND_FUNCTIONS(nereid_backend::PythonBackend, nereid_backend::PythonModel, PythonInstance)

extern "C" {

// A process takes a while to start, so the processes of a model start in parallel.
TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(
    TRITONBACKEND_Backend*, TRITONBACKEND_BackendAttribute* backend_attributes) {
  return TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(backend_attributes, true);
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
