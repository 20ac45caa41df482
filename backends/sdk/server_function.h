// SPDX-License-Identifier: Apache-2.0
// Functions that this project's server offers to backends beyond the published interface
// (include/nereid/). They are looked up, since a backend also works with a server that lacks them.
// Stateless; thread-safe.
#ifndef NEREID_BACKENDS_SDK_SERVER_FUNCTION_H_
#define NEREID_BACKENDS_SDK_SERVER_FUNCTION_H_

#include <dlfcn.h>

namespace nereid_backend {

// Null if the server does not have the function. `FunctionT` is its type:
// ServerFunction<decltype(NEREID_OutputLend)>("NEREID_OutputLend").
template <typename FunctionT>
FunctionT* ServerFunction(const char* name) {
  return reinterpret_cast<FunctionT*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_SERVER_FUNCTION_H_
