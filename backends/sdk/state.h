// SPDX-License-Identifier: Apache-2.0
// Writing the implicit state of a sequence. The server functions needed are referenced weakly, so
// that a backend also loads into a server without implicit state. Stateless.
#ifndef NEREID_BACKENDS_SDK_STATE_H_
#define NEREID_BACKENDS_SDK_STATE_H_

#include <functional>

#include "backends/sdk/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// Makes the next state of the sequence of `request`: output state `name` of `byte_size` bytes,
// which `fill` writes (not called if there are none). UNSUPPORTED if the server has no implicit
// state or wants it in GPU memory.
Error UpdateState(TRITONBACKEND_Request* request, const char* name, TRITONSERVER_DataType type,
                  const int64_t* dims, uint32_t dim_count, size_t byte_size,
                  const std::function<void(char*)>& fill);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_STATE_H_
