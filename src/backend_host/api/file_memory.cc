// SPDX-License-Identifier: Apache-2.0
// The functions NEREID_*FileMemory.
#include "backend_host/api/handles.h"
#include "c_objects/error.h"
#include "nereid/backend.h"

using nereid::CaughtError;
using nereid::FileMemory;
using nereid::InputBuffers;
using nereid::Unwrap;

namespace {

// `base` lies in `file`, unless that is null.
NEREID_FileMemory Describe(const FileMemory* file, const void* base, uint64_t byte_size) {
  if (file == nullptr) return {-1, 0, 0, nullptr};
  return {file->fd, file->OffsetOf(base), byte_size, const_cast<void*>(base)};
}

}  // namespace

extern "C" {

TRITONSERVER_Error* NEREID_InputFileMemory(TRITONBACKEND_Input* input, const uint32_t index,
                                           NEREID_FileMemory* memory) try {
  const InputBuffers& buffers = Unwrap(input)->buffers();
  const nereid::InputBuffer piece = index < buffers.size() ? buffers[index] : nereid::InputBuffer{};
  *memory = Describe(piece.file, piece.base, piece.byte_size);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_RequestOutputFileMemory(TRITONBACKEND_Request* request, const char* name,
                                                   NEREID_FileMemory* memory) try {
  const nereid::ResponseTarget& target = Unwrap(request)->response_target();
  nereid::OutputPlace place;
  if (target.allocator != nullptr) {
    place = target.allocator->FindPlace(name, target.allocator_userp);
  }
  *memory = Describe(place.file, place.base, place.byte_size);
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
