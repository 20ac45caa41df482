// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_State* functions: the state that a backend gives a sequence.
#include <absl/strings/str_cat.h>

#include "backend_host/api/handles.h"
#include "c_objects/error.h"

using nereid::CaughtError;
using nereid::InferRequest;
using nereid::MemoryPlace;
using nereid::MemoryType;
using nereid::PlacedMemory;
using nereid::SequenceState;
using nereid::ToCError;
using nereid::Unwrap;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_StateNew(TRITONBACKEND_State** state,
                                           TRITONBACKEND_Request* request, const char* name,
                                           const TRITONSERVER_DataType datatype,
                                           const int64_t* shape, const uint32_t dims_count) try {
  *state = nullptr;
  const InferRequest& r = *Unwrap(request);
  if (r.sequence_states() == nullptr) {
    return ToCError(absl::InvalidArgumentError(
        absl::StrCat("unable to add state '", name, "'. State configuration is missing for model '",
                     r.model()->config().name, "'.")));
  }
  const absl::StatusOr<SequenceState*> made = r.sequence_states()->NewOutput(
      name, static_cast<nereid::DataType>(datatype), absl::MakeConstSpan(shape, dims_count));
  if (made.ok()) *state = reinterpret_cast<TRITONBACKEND_State*>(*made);
  return ToCError(made.status());
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_StateUpdate(TRITONBACKEND_State* state) try {
  Unwrap(state)->Update();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_StateBuffer(TRITONBACKEND_State* state, void** buffer,
                                              const uint64_t buffer_byte_size,
                                              TRITONSERVER_MemoryType* memory_type,
                                              int64_t* memory_type_id) try {
  *buffer = nullptr;
  MemoryPlace wish{static_cast<MemoryType>(*memory_type), *memory_type_id};
  if (wish.type != MemoryType::kGpu) wish.id = 0;
  const absl::StatusOr<PlacedMemory> memory = Unwrap(state)->Buffer(buffer_byte_size, wish);
  if (!memory.ok()) return ToCError(memory.status());
  *buffer = memory->base;
  *memory_type = static_cast<TRITONSERVER_MemoryType>(memory->place.type);
  *memory_type_id = memory->place.id;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_StateBufferAttributes(
    TRITONBACKEND_State* state, TRITONSERVER_BufferAttributes** buffer_attributes) try {
  *buffer_attributes = Unwrap(state)->Attributes();
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
