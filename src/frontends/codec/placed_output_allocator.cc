// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/placed_output_allocator.h"

#include <absl/strings/str_cat.h>

namespace nereid {

absl::Status PlacedOutputAllocator::Allocate(const char* tensor_name, void* allocator_userp,
                                             OutputBuffer* buffer) const {
  const auto* const formats = static_cast<const OutputFormats*>(allocator_userp);
  const SharedMemorySlice* const slice = formats->PlaceOf(tensor_name);
  if (slice == nullptr) return heap_.Allocate(tensor_name, nullptr, buffer);
  if (buffer->byte_size > slice->byte_size) {
    return absl::InternalError(
        absl::StrCat("shared memory size specified with the request for output '", tensor_name,
                     "' (", slice->byte_size, " bytes) should be at least ", buffer->byte_size,
                     " bytes to hold the results"));
  }
  buffer->base = slice->data;
  buffer->place = slice->place;
  buffer->ipc_handle = slice->ipc_handle();
  buffer->userp = nullptr;  // says to Release that nothing is to be freed
  return absl::OkStatus();
}

void PlacedOutputAllocator::Release(const OutputBuffer& buffer) const {
  if (buffer.userp != nullptr) heap_.Release(buffer);
}

absl::Status PlacedOutputAllocator::Query(const char* tensor_name, void* allocator_userp,
                                          size_t* byte_size, MemoryPlace* place) const {
  const auto* const formats = static_cast<const OutputFormats*>(allocator_userp);
  const SharedMemorySlice* const slice =
      tensor_name == nullptr ? nullptr : formats->PlaceOf(tensor_name);
  if (slice != nullptr) {
    *place = slice->place;
    return absl::OkStatus();
  }
  return heap_.Query(tensor_name, nullptr, byte_size, place);
}

OutputPlace PlacedOutputAllocator::FindPlace(const char* tensor_name, void* allocator_userp) const {
  const auto* const formats = static_cast<const OutputFormats*>(allocator_userp);
  const SharedMemorySlice* const slice = formats->PlaceOf(tensor_name);
  if (slice == nullptr || slice->file() == nullptr) return {};
  return {slice->data, slice->byte_size, slice->file()};
}

}  // namespace nereid
