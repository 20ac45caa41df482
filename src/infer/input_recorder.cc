// SPDX-License-Identifier: Apache-2.0
#include "infer/input_recorder.h"

#include <algorithm>
#include <new>
#include <utility>

#include "infer/response_stream.h"
#include "infer/serving_model.h"
#include "observe/record/record_sample.h"

namespace nereid {
namespace {

// What a request costs besides its bytes, about.
constexpr uint64_t kFixedCost = 512;

bool IsReadable(const InferInput& input) {
  return std::none_of(input.buffers().begin(), input.buffers().end(), [](const InputBuffer& piece) {
    return piece.place.type == MemoryType::kGpu;
  });
}

uint64_t BytesOf(const KeptInputs& kept) {
  uint64_t bytes = kFixedCost;
  for (const KeptInput& input : kept.inputs) bytes += input.bytes.size();
  return bytes;
}

}  // namespace

void InputRecorder::Keep(const InferRequest& request) noexcept {
  if (stopped() || request.stream()->flight() == nullptr) return;
  const uint64_t start = request.request_start_ns();
  if (!IsInSample(start, share_)) return;
  const uint64_t bytes = SizeOf(request);
  const uint64_t before = bytes_.fetch_add(bytes, std::memory_order_relaxed);
  bool kept = false;
  if (bytes <= kMostRequestBytes && before + bytes <= kMostBytes) {
    try {
      KeptInputs copy;
      copy.model = request.model().get();
      copy.request_start = start;
      for (const InferInput& input : request.inputs()) copy.inputs.push_back(Copy(input));
      MutexLock lock(&mu_);
      kept_.push_back(std::move(copy));
      kept = true;
    } catch (const std::bad_alloc&) {
      // The request runs even if the recording lacks it.
    }
  }
  if (kept) return;
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  lost_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<KeptInputs> InputRecorder::Take() {
  std::vector<KeptInputs> taken;
  {
    MutexLock lock(&mu_);
    taken.swap(kept_);
  }
  uint64_t bytes = 0;
  for (const KeptInputs& kept : taken) bytes += BytesOf(kept);
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  return taken;
}

KeptInput InputRecorder::Copy(const InferInput& input) const {
  KeptInput copy;
  copy.name = input.name();
  copy.data_type = input.data_type();
  copy.shape = input.sent_shape();
  copy.has_bytes = IsReadable(input) && secret_.count(input.name()) == 0;
  if (!copy.has_bytes) return copy;
  copy.bytes.reserve(input.byte_size());
  for (const InputBuffer& piece : input.buffers()) {
    copy.bytes.append(static_cast<const char*>(piece.base), piece.byte_size);
  }
  return copy;
}

uint64_t InputRecorder::SizeOf(const InferRequest& request) const {
  uint64_t bytes = kFixedCost;
  for (const InferInput& input : request.inputs()) {
    if (IsReadable(input) && secret_.count(input.name()) == 0) bytes += input.byte_size();
  }
  return bytes;
}

}  // namespace nereid
