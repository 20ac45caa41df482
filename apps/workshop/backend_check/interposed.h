// SPDX-License-Identifier: Apache-2.0
// What the interposed functions of the C API share. This program defines functions of the API under
// their own names and exports them. The dynamic linker looks in the program first, so the backend's
// calls come here; each is entered in the ledgers and passed on to the server's library. Stateless.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_INTERPOSED_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_INTERPOSED_H_

#include "backend_check/error_ledger.h"
#include "triton/core/tritonserver.h"

namespace nereid {

// The function `name` of the server's library. Does not return if there is none.
void* FindInServer(const char* name);

// An error for a call of `function` that must not reach the server.
TRITONSERVER_Error* RefusedCall(const char* function);

// The major version of the interface that the backend gets to see; 0: the server's own.
void PretendMajorVersion(unsigned major);

}  // namespace nereid

// The server's own `function`, which this program hides.
#define NEREID_IN_SERVER(function)                              \
  ([]() -> decltype(&function) {                                \
    static void* const found = nereid::FindInServer(#function); \
    return reinterpret_cast<decltype(&function)>(found);        \
  }())

// Passes a call on; an error that comes back belongs to the backend.
#define NEREID_PASS_ON(function, ...) \
  nereid::ErrorLedger::Get().Gives(#function, NEREID_IN_SERVER(function)(__VA_ARGS__))

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_INTERPOSED_H_
