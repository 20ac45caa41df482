// SPDX-License-Identifier: Apache-2.0
// The C functions of libtriton_tensorflow.so.
#include "backends/sdk/entry.h"
#include "backends/tensorflow/instance.h"
#include "backends/tensorflow/model.h"
#include "backends/tensorflow/settings.h"

NB_BACKEND_FUNCTIONS(nereid_backend::BackendSettings, nereid_backend::TensorflowModel,
                     nereid_backend::TensorflowInstance)
NB_EXECUTE_BATCH(nereid_backend::TensorflowInstance)

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(TRITONBACKEND_ModelInstance* instance) {
  return nereid_backend::Guard("ModelInstanceReady", [&] {
    return nereid_backend::InstanceStateOf<nereid_backend::TensorflowInstance>(instance)->Ready();
  });
}

void NEREID_BackendReadsPieces(void) {}
void NEREID_BackendComputesOnCpus(void) {}
