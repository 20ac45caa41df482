// SPDX-License-Identifier: Apache-2.0
// A backend whose initialisation throws.
#include <stdexcept>

#include "triton/core/tritonbackend.h"

extern "C" {

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend*) {
  throw std::runtime_error("out of luck");
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request**, const uint32_t) {
  return nullptr;
}

}  // extern "C"
