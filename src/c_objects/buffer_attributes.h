// SPDX-License-Identifier: Apache-2.0
// Complete type behind TRITONSERVER_BufferAttributes. Thread-compatible value.
#ifndef NEREID_C_OBJECTS_BUFFER_ATTRIBUTES_H_
#define NEREID_C_OBJECTS_BUFFER_ATTRIBUTES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/memory_kind.h"
#include "triton/core/tritonserver.h"

struct TRITONSERVER_BufferAttributes {
  size_t byte_size = 0;
  TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
  int64_t memory_type_id = 0;
  std::optional<nereid::CudaIpcHandle> cuda_ipc_handle;
};

#endif  // NEREID_C_OBJECTS_BUFFER_ATTRIBUTES_H_
