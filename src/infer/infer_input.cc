// SPDX-License-Identifier: Apache-2.0
#include "infer/infer_input.h"

#include <absl/strings/str_cat.h>

#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "infer/serving_model.h"
#include "infer/string_elements.h"

namespace nereid {

void InferInput::RemoveAllBuffers() {
  buffers_.clear();
  byte_size_ = 0;
  coalesced_.reset();
  pieces_.reset();
  attributes_.reset();
  policy_buffers_.reset();
  handles_.reset();
  on_gpu_ = false;
  on_host_.reset();
}

const CudaIpcHandle* InferInput::KeepHandle(const CudaIpcHandle& handle) {
  if (handles_ == nullptr) handles_ = std::make_unique<std::forward_list<CudaIpcHandle>>();
  return &handles_->emplace_front(handle);
}

void InferInput::BeginReading(const ServingModel* model) {
  reader_ = model;
  on_host_.reset();
}

absl::Status InferInput::CheckStrings(const char* bytes, uint64_t byte_size) const {
  const auto about = [this] {
    return absl::StrCat(" for inference input '", name_, "' for model '", reader_->config().name,
                        "'");
  };
  return CheckStringElements({bytes, byte_size}, ElementCount(sent_shape_).value_or(0), about);
}

absl::StatusOr<InputBuffer> InferInput::OnHost(const InputBuffer& piece) {
  if (piece.place.type != MemoryType::kGpu) return piece;
  if (on_host_ == nullptr) {
    on_host_ = std::make_unique<std::map<const void*, std::unique_ptr<char[]>>>();
  }
  auto& copies = *on_host_;
  auto known = copies.find(piece.base);
  if (known == copies.end()) {
    // Plain new[] does not zero the bytes, which are overwritten right away.
    std::unique_ptr<char[]> copy(new char[piece.byte_size]);
    RETURN_IF_ERROR(reader_->devices().Copy(
        {{copy.get(), MemoryPlace{}, piece.base, piece.place, piece.byte_size}}));
    if (data_type_ == DataType::kBytes) RETURN_IF_ERROR(CheckStrings(copy.get(), piece.byte_size));
    known = copies.emplace(piece.base, std::move(copy)).first;
  }
  return InputBuffer{known->second.get(), piece.byte_size, MemoryPlace{}};
}

const InputBuffers& InferInput::BuffersFor(const char* host_policy) const {
  if (host_policy != nullptr && policy_buffers_ != nullptr) {
    const auto it = policy_buffers_->find(host_policy);
    if (it != policy_buffers_->end()) return it->second;
  }
  return buffers_;
}

void InferInput::AppendBufferFor(const std::string& host_policy, const InputBuffer& buffer) {
  if (buffer.byte_size == 0) return;
  if (policy_buffers_ == nullptr) {
    policy_buffers_ = std::make_unique<std::map<std::string, InputBuffers>>();
  }
  (*policy_buffers_)[host_policy].push_back(buffer);
  on_gpu_ |= buffer.place.type == MemoryType::kGpu;
}

TRITONSERVER_BufferAttributes* InferInput::AttributesOf(uint32_t index) {
  if (index >= buffers_.size()) return nullptr;
  if (attributes_ == nullptr) {
    attributes_ = std::make_unique<TRITONSERVER_BufferAttributes[]>(buffers_.size());
    for (size_t i = 0; i < buffers_.size(); ++i) {
      attributes_[i].byte_size = buffers_[i].byte_size;
      attributes_[i].memory_type = static_cast<TRITONSERVER_MemoryType>(buffers_[i].place.type);
      attributes_[i].memory_type_id = buffers_[i].place.id;
      if (const CudaIpcHandle* const handle = buffers_[i].ipc_handle) {
        attributes_[i].cuda_ipc_handle = *handle;
      }
    }
  }
  return &attributes_[index];
}

uint64_t InferInput::Coalesce() {
  if (buffers_.size() < 2) return 0;
  for (const InputBuffer& buffer : buffers_) {
    if (buffer.place.type == MemoryType::kGpu) return 0;
  }
  // Plain new[] does not zero the bytes, which are overwritten right away.
  std::unique_ptr<char[]> joined(new char[byte_size_]);
  char* out = joined.get();
  for (const InputBuffer& buffer : buffers_) {
    std::memcpy(out, buffer.base, buffer.byte_size);
    out += buffer.byte_size;
  }
  coalesced_ = std::move(joined);
  attributes_.reset();
  pieces_ = std::make_unique<InputBuffers>(std::move(buffers_));
  buffers_.clear();
  buffers_.push_back({coalesced_.get(), byte_size_, MemoryPlace{}});
  return byte_size_;
}

void InferInput::Separate() {
  if (pieces_ == nullptr) return;
  buffers_ = std::move(*pieces_);
  pieces_.reset();
  coalesced_.reset();
  attributes_.reset();
}

}  // namespace nereid
