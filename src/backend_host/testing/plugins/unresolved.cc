// SPDX-License-Identifier: Apache-2.0
// A backend that cannot be loaded: it calls a function that does not exist.
#include "triton/core/tritonbackend.h"

extern "C" {

TRITONSERVER_Error* NEREID_FunctionThatNobodyHas();

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request**, const uint32_t) {
  return NEREID_FunctionThatNobodyHas();
}

}  // extern "C"
