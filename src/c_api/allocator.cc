// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_ResponseAllocator*: output memory from an application's callbacks.
#include "c_api/allocator.h"

#include <absl/strings/str_cat.h>

#include <memory>

#include "base/log.h"
#include "base/status_macros.h"
#include "c_api/callbacks.h"
#include "c_objects/buffer_attributes.h"
#include "c_objects/error.h"

using nereid::Ask;
using nereid::CaughtError;
using nereid::CudaIpcHandle;
using nereid::MemoryPlace;
using nereid::MemoryType;
using nereid::OutputBuffer;

absl::Status TRITONSERVER_ResponseAllocator::Start(void* allocator_userp) const {
  if (start_fn == nullptr) return absl::OkStatus();
  return Ask("allocator's start", [&] { return start_fn(handle(), allocator_userp); });
}

absl::Status TRITONSERVER_ResponseAllocator::Allocate(const char* tensor_name,
                                                      void* allocator_userp,
                                                      OutputBuffer* buffer) const {
  const auto wish = static_cast<TRITONSERVER_MemoryType>(buffer->place.type);
  TRITONSERVER_MemoryType actual = wish;
  absl::Status status = Ask("allocation", [&] {
    return alloc_fn(handle(), tensor_name, buffer->byte_size, wish, buffer->place.id,
                    allocator_userp, &buffer->base, &buffer->userp, &actual, &buffer->place.id);
  });
  if (!status.ok()) return status;
  buffer->place.type = static_cast<MemoryType>(actual);
  if (buffer->base == nullptr && buffer->byte_size > 0) {
    return absl::InternalError(absl::StrCat("the response allocator returned no buffer for the ",
                                            buffer->byte_size, " bytes of output '", tensor_name,
                                            "'"));
  }
  status = Describe(tensor_name, allocator_userp, buffer);
  // The response never sees a buffer returned with an error.
  if (!status.ok() && buffer->base != nullptr) Release(*buffer);
  return status;
}

absl::Status TRITONSERVER_ResponseAllocator::Describe(const char* tensor_name,
                                                      void* allocator_userp,
                                                      OutputBuffer* buffer) const {
  if (attributes_fn == nullptr) return absl::OkStatus();
  TRITONSERVER_BufferAttributes attributes;
  attributes.byte_size = buffer->byte_size;
  attributes.memory_type = static_cast<TRITONSERVER_MemoryType>(buffer->place.type);
  attributes.memory_type_id = buffer->place.id;
  RETURN_IF_ERROR(Ask("buffer attributes", [&] {
    return attributes_fn(handle(), tensor_name, &attributes, allocator_userp, buffer->userp);
  }));
  if (attributes.cuda_ipc_handle.has_value()) {
    buffer->ipc_handle = std::make_shared<const CudaIpcHandle>(*attributes.cuda_ipc_handle);
  }
  return absl::OkStatus();
}

void TRITONSERVER_ResponseAllocator::Release(const OutputBuffer& buffer) const {
  // Destructors call this, even when memory is exhausted.
  nereid::Notify("buffer release", [&] {
    const absl::Status status = nereid::TakeCError(
        release_fn(handle(), buffer.base, buffer.userp, buffer.byte_size,
                   static_cast<TRITONSERVER_MemoryType>(buffer.place.type), buffer.place.id));
    if (!status.ok()) {
      LOG_ERROR_SELDOM << "failed to release an output buffer: " << status.message();
    }
  });
}

absl::Status TRITONSERVER_ResponseAllocator::Query(const char* tensor_name, void* allocator_userp,
                                                   size_t* byte_size, MemoryPlace* place) const {
  if (query_fn == nullptr) {
    return OutputAllocator::Query(tensor_name, allocator_userp, byte_size, place);
  }
  auto type = static_cast<TRITONSERVER_MemoryType>(place->type);
  const absl::Status status = Ask("query", [&] {
    return query_fn(handle(), allocator_userp, tensor_name, byte_size, &type, &place->id);
  });
  place->type = static_cast<MemoryType>(type);
  return status;
}

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorNew(
    TRITONSERVER_ResponseAllocator** allocator, TRITONSERVER_ResponseAllocatorAllocFn_t alloc_fn,
    TRITONSERVER_ResponseAllocatorReleaseFn_t release_fn,
    TRITONSERVER_ResponseAllocatorStartFn_t start_fn) try {
  *allocator = new TRITONSERVER_ResponseAllocator(alloc_fn, release_fn, start_fn);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction(
    TRITONSERVER_ResponseAllocator* allocator,
    TRITONSERVER_ResponseAllocatorBufferAttributesFn_t buffer_attributes_fn) try {
  allocator->attributes_fn = buffer_attributes_fn;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorSetQueryFunction(
    TRITONSERVER_ResponseAllocator* allocator,
    TRITONSERVER_ResponseAllocatorQueryFn_t query_fn) try {
  allocator->query_fn = query_fn;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorDelete(
    TRITONSERVER_ResponseAllocator* allocator) try {
  delete allocator;
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
