// SPDX-License-Identifier: Apache-2.0
// The C functions of libtriton_fil.so.
#include "backends/sdk/entry.h"
#include "backends/fil/model.h"

NB_BACKEND_FUNCTIONS(nereid_backend::FilBackend, nereid_backend::FilModel,
                     nereid_backend::FilInstance)
NB_EXECUTE_BATCH(nereid_backend::FilInstance)

void NEREID_BackendExecutesBriefly(void) {}
void NEREID_BackendReadsPieces(void) {}
void NEREID_BackendComputesOnCpus(void) {}
