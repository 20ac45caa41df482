// The C functions of libtriton_identity.so.
#include "backends/sdk/entry.h"
#include "backends/identity/identity.h"

NB_BACKEND_FUNCTIONS(nereid_backend::IdentityBackend, nereid_backend::IdentityModel,
                     nereid_backend::IdentityInstance)
NB_EXECUTE_BATCH(nereid_backend::IdentityInstance)

void NEREID_BackendExecutesBriefly(void) {}
void NEREID_BackendReadsPieces(void) {}
