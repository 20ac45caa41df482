// SPDX-License-Identifier: Apache-2.0
// The C functions of libtriton_pytorch.so.
#include "backends/sdk/entry.h"
#include "backends/pytorch/environment.h"
#include "backends/pytorch/instance.h"
#include "backends/pytorch/model.h"

NB_BACKEND_FUNCTIONS(nereid_backend::Environment, nereid_backend::TorchModel,
                     nereid_backend::TorchInstance)
NB_EXECUTE_BATCH(nereid_backend::TorchInstance)

void NEREID_BackendReadsPieces(void) {}
void NEREID_BackendComputesOnCpus(void) {}
