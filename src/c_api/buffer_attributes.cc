// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_BufferAttributes*: the attributes of a buffer besides its address.
#include "c_objects/buffer_attributes.h"

#include <cstring>
#include <optional>

#include "c_objects/error.h"

using nereid::CaughtError;
using nereid::CudaIpcHandle;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_BufferAttributesNew(
    TRITONSERVER_BufferAttributes** buffer_attributes) try {
  *buffer_attributes = new TRITONSERVER_BufferAttributes;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesDelete(
    TRITONSERVER_BufferAttributes* buffer_attributes) try {
  delete buffer_attributes;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetMemoryTypeId(
    TRITONSERVER_BufferAttributes* buffer_attributes, int64_t memory_type_id) try {
  buffer_attributes->memory_type_id = memory_type_id;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetMemoryType(
    TRITONSERVER_BufferAttributes* buffer_attributes, TRITONSERVER_MemoryType memory_type) try {
  buffer_attributes->memory_type = memory_type;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetCudaIpcHandle(
    TRITONSERVER_BufferAttributes* buffer_attributes, void* cuda_ipc_handle) try {
  if (cuda_ipc_handle == nullptr) {
    buffer_attributes->cuda_ipc_handle.reset();
    return nullptr;
  }
  std::optional<CudaIpcHandle>& kept = buffer_attributes->cuda_ipc_handle;
  std::memcpy(kept.emplace().data(), cuda_ipc_handle, sizeof(CudaIpcHandle));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetByteSize(
    TRITONSERVER_BufferAttributes* buffer_attributes, size_t byte_size) try {
  buffer_attributes->byte_size = byte_size;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryTypeId(
    TRITONSERVER_BufferAttributes* buffer_attributes, int64_t* memory_type_id) try {
  *memory_type_id = buffer_attributes->memory_type_id;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryType(
    TRITONSERVER_BufferAttributes* buffer_attributes, TRITONSERVER_MemoryType* memory_type) try {
  *memory_type = buffer_attributes->memory_type;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesCudaIpcHandle(
    TRITONSERVER_BufferAttributes* buffer_attributes, void** cuda_ipc_handle) try {
  std::optional<CudaIpcHandle>& kept = buffer_attributes->cuda_ipc_handle;
  *cuda_ipc_handle = kept.has_value() ? kept->data() : nullptr;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesByteSize(
    TRITONSERVER_BufferAttributes* buffer_attributes, size_t* byte_size) try {
  *byte_size = buffer_attributes->byte_size;
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
