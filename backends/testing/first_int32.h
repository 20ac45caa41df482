// SPDX-License-Identifier: Apache-2.0
// Reads the number with which tests control a request. Stateless.
#ifndef NEREID_BACKENDS_TESTING_FIRST_INT32_H_
#define NEREID_BACKENDS_TESTING_FIRST_INT32_H_

#include "backends/sdk/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// First element of the first INT32 input. INVALID_ARG if there is none.
Result<int32_t> FirstInt32(TRITONBACKEND_Request* request);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TESTING_FIRST_INT32_H_
