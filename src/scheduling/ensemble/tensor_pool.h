// SPDX-License-Identifier: Apache-2.0
// TensorPool: the tensors of one request to an ensemble. Each value stays where its step has
// written it, and is freed after its last use. Thread-compatible. Owned by its EnsembleRun.
#ifndef NEREID_SCHEDULING_ENSEMBLE_TENSOR_POOL_H_
#define NEREID_SCHEDULING_ENSEMBLE_TENSOR_POOL_H_

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "infer/infer_input.h"
#include "infer/response_credit.h"
#include "memory/output_allocator.h"
#include "model/correlation_id.h"
#include "scheduling/ensemble/step_graph.h"

namespace nereid {

// A buffer, and the allocator that releases it. Move-only.
class TensorBytes {
 public:
  TensorBytes() = default;
  // `allocator` outlives this.
  TensorBytes(const OutputBuffer& buffer, const OutputAllocator* allocator)
      : buffer_(buffer), allocator_(allocator) {}
  TensorBytes(TensorBytes&& other) noexcept
      : buffer_(std::exchange(other.buffer_, OutputBuffer{})), allocator_(other.allocator_) {}
  TensorBytes& operator=(TensorBytes&& other) noexcept {
    if (this != &other) {
      Free();
      buffer_ = std::exchange(other.buffer_, OutputBuffer{});
      allocator_ = other.allocator_;
    }
    return *this;
  }
  ~TensorBytes() { Free(); }

  const OutputBuffer& buffer() const { return buffer_; }
  // Gives up the buffer, which the caller then has to release.
  OutputBuffer Take() { return std::exchange(buffer_, OutputBuffer{}); }

 private:
  void Free() {
    if (buffer_.base != nullptr) allocator_->Release(buffer_);
  }

  OutputBuffer buffer_;
  const OutputAllocator* allocator_ = nullptr;
};

// What an answer says about the sequence, for the steps that read the answer.
struct SequenceOverride {
  std::optional<CorrelationId> id;
  std::optional<bool> start;
  std::optional<bool> end;
};

// One value of a tensor. Its bytes are in `input` or in `bytes`. They are in neither if `absent`:
// the client left out an optional input, or a step left out an output.
struct TensorValue {
  DataType data_type = DataType::kInvalid;
  Shape shape;                        // full, batch dimension included
  const InferInput* input = nullptr;  // an input of the request to the ensemble
  TensorBytes bytes;
  std::shared_ptr<const SequenceOverride> sequence;  // null: none
  bool absent = false;
  uint32_t uses = 0;  // still to come

  size_t byte_size() const {
    return input != nullptr ? input->byte_size() : bytes.buffer().byte_size;
  }
};

class TensorPool {
 public:
  explicit TensorPool(const StepPlan& plan) : plan_(plan), tensors_(plan.uses.size()) {}
  ~TensorPool() { Clear(); }
  TensorPool(const TensorPool&) = delete;
  TensorPool& operator=(const TensorPool&) = delete;

  // From now on, the bytes of values that steps have made also count there.
  void CountIn(std::shared_ptr<ResponseCredit::Account> account) { account_ = std::move(account); }

  // REQUIRES: this value was not put before; the plan uses the tensor.
  void Put(uint32_t tensor, uint32_t iteration, TensorValue value);
  // Null: there is no such value (any more). Valid until the value is freed.
  TensorValue* Find(uint32_t tensor, uint32_t iteration);
  // One use has ended. If it was the last, returns the bytes, which the caller frees outside locks.
  TensorBytes EndUse(uint32_t tensor, uint32_t iteration);

  // Frees everything.
  void Clear() {
    for (Values& values : tensors_) values = Values();
    Count(0);
  }

  // Bytes of all values that steps have made: now, and the most at a time.
  size_t bytes() const { return bytes_; }
  size_t peak_bytes() const { return peak_bytes_; }

 private:
  struct Values {
    std::optional<TensorValue> first;         // the value of iteration 0
    std::map<uint32_t, TensorValue> further;  // the values of other iterations
  };

  // The values that steps have made are `bytes` now.
  void Count(size_t bytes) {
    if (account_ != nullptr) account_->fetch_add(bytes - bytes_, std::memory_order_relaxed);
    bytes_ = bytes;
  }

  const StepPlan& plan_;
  std::shared_ptr<ResponseCredit::Account> account_;  // null: none
  absl::InlinedVector<Values, 4> tensors_;
  size_t bytes_ = 0;
  size_t peak_bytes_ = 0;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_TENSOR_POOL_H_
