// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/request_buffers.h"

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/request_limits.h"

namespace nereid {

bool RequestBuffers::Charge(uint64_t bytes) {
  if (budget_ == nullptr) return true;
  auto units = budget_->TakeFor(holder_, bytes, ShareUse::kAdmission);
  if (!units.ok()) {
    refusal_ = units.status();
    return false;
  }
  units_.Add(*std::move(units));
  return true;
}

absl::Status RequestBuffers::WhyNothing(const char* what) const {
  if (!refusal_.ok()) return refusal_;
  return absl::UnavailableError(absl::StrCat("out of memory for ", what));
}

char* RequestBuffers::Allocate(size_t byte_size) {
  const size_t rounded = (byte_size + kAlignment - 1) / kAlignment * kAlignment;
  if (rounded < byte_size) return nullptr;
  if (rounded <= kInlineBytes - inline_used_) {
    char* place = inline_ + inline_used_;
    inline_used_ += rounded;
    return place;
  }
  if (!Charge(rounded)) return nullptr;
  char* block = static_cast<char*>(std::aligned_alloc(kAlignment, rounded));
  if (block != nullptr) blocks_.emplace_back(block);
  return block;
}

const char* RequestBuffers::Adopt(std::string bytes) {
  if (!Charge(bytes.capacity())) return nullptr;
  adopted_.push_back(std::make_unique<std::string>(std::move(bytes)));
  return adopted_.back()->data();
}

const char* RequestBuffers::CopyAligned(const char* bytes, size_t byte_size) {
  char* copy = Allocate(byte_size);
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, bytes, byte_size);
  bytes_copied_ += byte_size;
  return copy;
}

absl::StatusOr<SharedMemorySlice> RequestBuffers::FindOutput(const SharedMemoryRange& range) const {
  RETURN_IF_ERROR(CheckLength("name of a shared memory region", range.region));
  if (shared_memory_ == nullptr) return UnknownSharedMemory(range.region);
  return shared_memory_->Find(range);
}

absl::StatusOr<InputBuffer> RequestBuffers::Borrow(const SharedMemoryRange& range,
                                                   DataType data_type) {
  ASSIGN_OR_RETURN(SharedMemorySlice slice, FindOutput(range));
  if (slice.place.type == MemoryType::kGpu) {
    if (!Charge(slice.byte_size)) return WhyNothing("a tensor in CUDA shared memory");
    const CudaIpcHandle* const handle = &slice.memory->ipc_handle;
    regions_.push_back(std::move(slice.memory));
    return InputBuffer{slice.data, slice.byte_size, slice.place, nullptr, handle};
  }
  const uint32_t element = DataTypeByteSize(data_type);
  const bool misaligned = element > 1 && reinterpret_cast<uintptr_t>(slice.data) % element != 0;
  if (data_type == DataType::kBytes || misaligned) {
    const char* const copy = CopyAligned(slice.data, slice.byte_size);
    if (copy == nullptr) return WhyNothing("a tensor in shared memory");
    return InputBuffer{copy, slice.byte_size, MemoryPlace{}};
  }
  const FileMemory* const file = slice.file();
  regions_.push_back(std::move(slice.memory));
  return InputBuffer{slice.data, slice.byte_size, MemoryPlace{}, file};
}

void RequestBuffers::Clear() {
  inline_used_ = 0;
  blocks_.clear();
  adopted_.clear();
  regions_.clear();
  bytes_copied_ = 0;
  units_.Return();
  refusal_ = absl::OkStatus();
}

}  // namespace nereid
