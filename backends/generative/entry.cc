// SPDX-License-Identifier: Apache-2.0
// The C functions of libtriton_generative.so.
#include "backends/sdk/entry.h"

#include "backends/generative/model.h"

NB_BACKEND_FUNCTIONS(nereid_backend::GenerativeBackend, nereid_backend::GenerativeModel,
                     nereid_backend::GenerativeInstance)

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  return nereid_backend::Guard("ModelInstanceExecute", [&]() -> nereid_backend::Error {
    nereid_backend::InstanceStateOf<nereid_backend::GenerativeInstance>(instance)->Execute(
        requests, request_count);
    return {};
  });
}

void NEREID_BackendComputesOnCpus(void) {}
