// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/state.h"

#pragma weak TRITONBACKEND_StateNew
#pragma weak TRITONBACKEND_StateBuffer
#pragma weak TRITONBACKEND_StateUpdate

namespace nereid_backend {

Error UpdateState(TRITONBACKEND_Request* request, const char* name, TRITONSERVER_DataType type,
                  const int64_t* dims, uint32_t dim_count, size_t byte_size,
                  const std::function<void(char*)>& fill) {
  if (&TRITONBACKEND_StateNew == nullptr || &TRITONBACKEND_StateBuffer == nullptr ||
      &TRITONBACKEND_StateUpdate == nullptr) {
    return Error::Unsupported("this server has no implicit state of sequences");
  }
  TRITONBACKEND_State* state = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_StateNew(&state, request, name, type, dims, dim_count));
  void* buffer = nullptr;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_StateBuffer(state, &buffer, byte_size, &memory, &id));
  if (memory == TRITONSERVER_MEMORY_GPU) {
    return Error::Unsupported(StrCat("state '", name, "' is in GPU memory"));
  }
  if (byte_size > 0) fill(static_cast<char*>(buffer));
  return Error(TRITONBACKEND_StateUpdate(state));
}

}  // namespace nereid_backend
