// SPDX-License-Identifier: Apache-2.0
// The C functions of libtriton_openvino.so.
#include "backends/sdk/entry.h"
#include "backends/openvino/environment.h"
#include "backends/openvino/instance.h"
#include "backends/openvino/model.h"

NB_BACKEND_FUNCTIONS(nereid_backend::Environment, nereid_backend::OpenVinoModel,
                     nereid_backend::OpenVinoInstance)

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  return nereid_backend::InstanceStateOf<nereid_backend::OpenVinoInstance>(instance)->Execute(
      requests, request_count);
}

// Not NEREID_BackendExecutesBriefly: an instance with several batches in progress waits for one of
// them, although its executions look short.
void NEREID_BackendReadsPieces(void) {}
void NEREID_BackendComputesOnCpus(void) {}
