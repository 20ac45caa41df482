// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_Request* and TRITONBACKEND_Input* functions.
#include <absl/strings/str_cat.h>

#include "backend_host/api/handles.h"
#include "backend_host/execution_scope.h"
#include "c_objects/buffer_attributes.h"
#include "c_objects/error.h"

using nereid::CaughtError;
using nereid::ExecutionScope;
using nereid::InferInput;
using nereid::InferRequest;
using nereid::InputBuffer;
using nereid::InputBuffers;
using nereid::SetIf;
using nereid::ToCError;
using nereid::Unwrap;

namespace {

TRITONSERVER_Error* OutOfBounds(const InferRequest& request, uint32_t index, size_t count,
                                const char* what) {
  return ToCError(absl::InvalidArgumentError(absl::StrCat(
      request.LogPrefix(), "out of bounds index ", index, ": request has ", count, " ", what)));
}

void InputProperties(const InferInput& input, const InputBuffers& buffers, const char** name,
                     TRITONSERVER_DataType* datatype, const int64_t** shape, uint32_t* dims_count,
                     uint64_t* byte_size, uint32_t* buffer_count) {
  uint64_t bytes = 0;
  for (const InputBuffer& buffer : buffers) bytes += buffer.byte_size;
  SetIf(name, input.name().c_str());
  SetIf(datatype, static_cast<TRITONSERVER_DataType>(input.data_type()));
  SetIf(shape, input.shape().data());
  SetIf(dims_count, static_cast<uint32_t>(input.shape().size()));
  SetIf(byte_size, bytes);
  SetIf(buffer_count, static_cast<uint32_t>(buffers.size()));
}

// The buffer with that index; null after the last piece.
InputBuffer BufferAt(const InputBuffers& buffers, uint32_t index) {
  return index < buffers.size() ? buffers[index] : InputBuffer{};
}

// A backend that does not ask for memory of a GPU gets none.
TRITONSERVER_Error* GiveBuffer(InferInput* input, const InputBuffers& buffers, uint32_t index,
                               const void** buffer, uint64_t* byte_size,
                               TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id) {
  InputBuffer piece = BufferAt(buffers, index);
  if (piece.place.type == nereid::MemoryType::kGpu && *memory_type != TRITONSERVER_MEMORY_GPU) {
    const absl::StatusOr<InputBuffer> copy = input->OnHost(piece);
    if (!copy.ok()) return ToCError(copy.status());
    piece = *copy;
  }
  *buffer = piece.base;
  *byte_size = piece.byte_size;
  *memory_type = static_cast<TRITONSERVER_MemoryType>(piece.place.type);
  *memory_type_id = piece.place.id;
  return nullptr;
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name,
                                                  TRITONSERVER_DataType* datatype,
                                                  const int64_t** shape, uint32_t* dims_count,
                                                  uint64_t* byte_size, uint32_t* buffer_count) try {
  const InferInput& in = *Unwrap(input);
  InputProperties(in, in.buffers(), name, datatype, shape, dims_count, byte_size, buffer_count);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_InputPropertiesForHostPolicy(
    TRITONBACKEND_Input* input, const char* host_policy_name, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint32_t* dims_count,
    uint64_t* byte_size, uint32_t* buffer_count) try {
  const InferInput& in = *Unwrap(input);
  InputProperties(in, in.BuffersFor(host_policy_name), name, datatype, shape, dims_count, byte_size,
                  buffer_count);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, const uint32_t index,
                                              const void** buffer, uint64_t* buffer_byte_size,
                                              TRITONSERVER_MemoryType* memory_type,
                                              int64_t* memory_type_id) try {
  InferInput* const in = Unwrap(input);
  return GiveBuffer(in, in->buffers(), index, buffer, buffer_byte_size, memory_type,
                    memory_type_id);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_InputBufferForHostPolicy(
    TRITONBACKEND_Input* input, const char* host_policy_name, const uint32_t index,
    const void** buffer, uint64_t* buffer_byte_size, TRITONSERVER_MemoryType* memory_type,
    int64_t* memory_type_id) try {
  InferInput* const in = Unwrap(input);
  return GiveBuffer(in, in->BuffersFor(host_policy_name), index, buffer, buffer_byte_size,
                    memory_type, memory_type_id);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_InputBufferAttributes(
    TRITONBACKEND_Input* input, const uint32_t index, const void** buffer,
    TRITONSERVER_BufferAttributes** buffer_attributes) try {
  InferInput* const in = Unwrap(input);
  const InputBuffer piece = BufferAt(in->buffers(), index);
  *buffer = piece.base;
  *buffer_attributes = in->AttributesOf(index);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestId(TRITONBACKEND_Request* request, const char** id) try {
  *id = Unwrap(request)->id().c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(TRITONBACKEND_Request* request,
                                                     bool* is_cancelled) try {
  *is_cancelled = Unwrap(request)->stream()->IsCancelled();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationId(TRITONBACKEND_Request* request,
                                                       uint64_t* id) try {
  const InferRequest& r = *Unwrap(request);
  if (r.correlation_id().is_string()) {
    return ToCError(absl::InvalidArgumentError(
        absl::StrCat(r.LogPrefix(), "correlation ID in request is not an unsigned int")));
  }
  *id = r.correlation_id().uint_value();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationIdString(TRITONBACKEND_Request* request,
                                                             const char** id) try {
  const InferRequest& r = *Unwrap(request);
  if (!r.correlation_id().is_string()) {
    return ToCError(absl::InvalidArgumentError(
        absl::StrCat(r.LogPrefix(), "correlation ID in request is not a string")));
  }
  *id = r.correlation_id().string_value().c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_InferenceRequestTimeoutMicroseconds(
    TRITONBACKEND_Request* request, uint64_t* timeout) try {
  *timeout = Unwrap(request)->timeout_us();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_RequestPriority(TRITONBACKEND_Request* request, uint64_t* priority) try {
  *priority = Unwrap(request)->asked_priority();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestFlags(TRITONBACKEND_Request* request,
                                               uint32_t* flags) try {
  *flags = Unwrap(request)->flags();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestParameterCount(TRITONBACKEND_Request* request,
                                                        uint32_t* count) try {
  *count = static_cast<uint32_t>(Unwrap(request)->parameters().size());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestParameter(TRITONBACKEND_Request* request,
                                                   const uint32_t index, const char** key,
                                                   TRITONSERVER_ParameterType* type,
                                                   const void** vvalue) try {
  const auto& parameters = Unwrap(request)->parameters();
  if (index >= parameters.size()) {
    return ToCError(absl::InvalidArgumentError(absl::StrCat(
        "out of bounds index ", index, ": request has ", parameters.size(), " parameters")));
  }
  const nereid::Parameter& parameter = parameters[index];
  *key = parameter.name.c_str();
  *type = static_cast<TRITONSERVER_ParameterType>(parameter.value.index());
  *vvalue = nereid::ParameterValuePointer(parameter.value);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request* request,
                                                    uint32_t* count) try {
  *count = static_cast<uint32_t>(Unwrap(request)->backend_input_count());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputName(TRITONBACKEND_Request* request,
                                                   const uint32_t index,
                                                   const char** input_name) try {
  *input_name = nullptr;
  InferRequest& r = *Unwrap(request);
  if (index >= r.backend_input_count())
    return OutOfBounds(r, index, r.backend_input_count(), "inputs");
  *input_name = r.backend_input(index).name().c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestInput(TRITONBACKEND_Request* request, const char* name,
                                               TRITONBACKEND_Input** input) try {
  InferRequest& r = *Unwrap(request);
  InferInput* const found = r.FindBackendInput(name);
  *input = reinterpret_cast<TRITONBACKEND_Input*>(found);
  if (found != nullptr) return nullptr;
  return ToCError(
      absl::InvalidArgumentError(absl::StrCat(r.LogPrefix(), "unknown request input name ", name)));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* request,
                                                      const uint32_t index,
                                                      TRITONBACKEND_Input** input) try {
  *input = nullptr;
  InferRequest& r = *Unwrap(request);
  if (index >= r.backend_input_count())
    return OutOfBounds(r, index, r.backend_input_count(), "inputs");
  *input = reinterpret_cast<TRITONBACKEND_Input*>(&r.backend_input(index));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request* request,
                                                     uint32_t* count) try {
  *count = static_cast<uint32_t>(Unwrap(request)->output_count());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request* request,
                                                    const uint32_t index,
                                                    const char** output_name) try {
  *output_name = nullptr;
  const InferRequest& r = *Unwrap(request);
  if (index >= r.output_count()) {
    return OutOfBounds(r, index, r.output_count(), "requested outputs");
  }
  *output_name = r.output_name(index).c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputBufferProperties(
    TRITONBACKEND_Request* request, const char* name, size_t* byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id) try {
  const InferRequest& r = *Unwrap(request);
  if (r.stream()->final_sent()) {  // what the allocator needs may be gone
    return ToCError(absl::InternalError(
        absl::StrCat(r.LogPrefix(), "output '", name, "': the final response was sent already")));
  }
  nereid::MemoryPlace place{static_cast<nereid::MemoryType>(*memory_type), *memory_type_id};
  const nereid::ResponseTarget& target = r.response_target();
  const absl::Status status =
      target.allocator->Query(name, target.allocator_userp, byte_size, &place);
  if (!status.ok()) {
    return ToCError(absl::Status(status.code(), absl::StrCat(r.LogPrefix(), status.message())));
  }
  *memory_type = static_cast<TRITONSERVER_MemoryType>(place.type);
  *memory_type_id = place.id;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestTrace(TRITONBACKEND_Request* request,
                                               TRITONSERVER_InferenceTrace** trace) try {
  *trace = reinterpret_cast<TRITONSERVER_InferenceTrace*>(Unwrap(request)->trace());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request,
                                                 uint32_t release_flags) try {
  InferRequest* const r = Unwrap(request);
  const bool again = (release_flags & TRITONSERVER_REQUEST_RELEASE_RESCHEDULE) != 0;
  if (again && !(r->model()->config().sequence.iterative && r->release_watcher() != nullptr)) {
    return ToCError(absl::InvalidArgumentError(
        "Request is released with TRITONSERVER_REQUEST_RELEASE_RESCHEDULE, while the model is not "
        "configured to handle such a flag."));
  }
  // Copied out first: once claimed, the request belongs to this call alone.
  const std::shared_ptr<nereid::LentBatch> lent = r->lent_batch();
  if (lent != nullptr && !lent->Claim(r->lent_slot())) {
    return ToCError(absl::InternalError(
        ExecutionScope::IsExecuting(lent.get())
            ? "the request was released before"
            : "the request was taken back by the server because execution of its batch failed"));
  }
  ExecutionScope::Release(r, release_flags, lent.get());
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
