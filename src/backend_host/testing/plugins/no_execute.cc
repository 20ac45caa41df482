// SPDX-License-Identifier: Apache-2.0
// A shared object that is no backend: it lacks the one function that every backend has.
#include "triton/core/tritonbackend.h"

extern "C" TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(
    TRITONBACKEND_Backend*) {
  return nullptr;
}
