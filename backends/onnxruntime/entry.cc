// SPDX-License-Identifier: Apache-2.0
// The C functions of libtriton_onnxruntime.so.
#include "backends/sdk/entry.h"
#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/instance.h"
#include "backends/onnxruntime/model.h"

NB_BACKEND_FUNCTIONS(nereid_backend::Environment, nereid_backend::OnnxModel,
                     nereid_backend::OnnxInstance)
NB_EXECUTE_BATCH(nereid_backend::OnnxInstance)

void NEREID_BackendExecutesBriefly(void) {}
void NEREID_BackendReadsPieces(void) {}
void NEREID_BackendComputesOnCpus(void) {}
