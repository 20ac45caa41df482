// SPDX-License-Identifier: Apache-2.0
#include "infer/infer_input.h"

#include <cstring>

namespace nereid {

void InferInput::RemoveAllBuffers() {
  buffers_.clear();
  byte_size_ = 0;
  coalesced_.reset();
  pieces_.reset();
  attributes_.reset();
  policy_buffers_.reset();
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
}

TRITONSERVER_BufferAttributes* InferInput::AttributesOf(uint32_t index) {
  if (index >= buffers_.size()) return nullptr;
  if (attributes_ == nullptr) {
    attributes_ = std::make_unique<TRITONSERVER_BufferAttributes[]>(buffers_.size());
    for (size_t i = 0; i < buffers_.size(); ++i) {
      attributes_[i].byte_size = buffers_[i].byte_size;
      attributes_[i].memory_type = static_cast<TRITONSERVER_MemoryType>(buffers_[i].place.type);
      attributes_[i].memory_type_id = buffers_[i].place.id;
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
