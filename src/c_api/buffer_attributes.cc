// TRITONSERVER_BufferAttributes*: what is known of a buffer besides its address.
#include "c_objects/buffer_attributes.h"

extern "C" {

TRITONSERVER_Error* TRITONSERVER_BufferAttributesNew(
    TRITONSERVER_BufferAttributes** buffer_attributes) {
  *buffer_attributes = new TRITONSERVER_BufferAttributes;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesDelete(
    TRITONSERVER_BufferAttributes* buffer_attributes) {
  delete buffer_attributes;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetMemoryTypeId(
    TRITONSERVER_BufferAttributes* buffer_attributes, int64_t memory_type_id) {
  buffer_attributes->memory_type_id = memory_type_id;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetMemoryType(
    TRITONSERVER_BufferAttributes* buffer_attributes, TRITONSERVER_MemoryType memory_type) {
  buffer_attributes->memory_type = memory_type;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetCudaIpcHandle(
    TRITONSERVER_BufferAttributes* buffer_attributes, void* cuda_ipc_handle) {
  buffer_attributes->cuda_ipc_handle = cuda_ipc_handle;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetByteSize(
    TRITONSERVER_BufferAttributes* buffer_attributes, size_t byte_size) {
  buffer_attributes->byte_size = byte_size;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryTypeId(
    TRITONSERVER_BufferAttributes* buffer_attributes, int64_t* memory_type_id) {
  *memory_type_id = buffer_attributes->memory_type_id;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryType(
    TRITONSERVER_BufferAttributes* buffer_attributes, TRITONSERVER_MemoryType* memory_type) {
  *memory_type = buffer_attributes->memory_type;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesCudaIpcHandle(
    TRITONSERVER_BufferAttributes* buffer_attributes, void** cuda_ipc_handle) {
  *cuda_ipc_handle = buffer_attributes->cuda_ipc_handle;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesByteSize(
    TRITONSERVER_BufferAttributes* buffer_attributes, size_t* byte_size) {
  *byte_size = buffer_attributes->byte_size;
  return nullptr;
}

}  // extern "C"
