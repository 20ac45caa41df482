// SPDX-License-Identifier: Apache-2.0
// RequestBuffers: memory for those tensors of one request that are not views into the received
// body: tensors sent as JSON, binary tensors that had to be moved to an aligned place, and tensors
// in shared memory. Owned by the frontend's request, next to the body; outlives the request's time
// in the core.
// Thread-compatible.
//
// All memory is charged to a budget, if one is set. A refusal looks like exhausted memory;
// refusal() has the reason.
#ifndef NEREID_FRONTENDS_CODEC_REQUEST_BUFFERS_H_
#define NEREID_FRONTENDS_CODEC_REQUEST_BUFFERS_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "base/budget.h"
#include "frontends/codec/parse_cost.h"
#include "frontends/shared_memory/shared_memory_registry.h"
#include "infer/infer_input.h"
#include "model/data_type.h"

namespace nereid {

class RequestBuffers {
 public:
  static constexpr size_t kAlignment = 64;

  RequestBuffers() = default;
  RequestBuffers(const RequestBuffers&) = delete;
  RequestBuffers& operator=(const RequestBuffers&) = delete;

  // From now on charges `budget` (not owned; outlives the buffers), on behalf of `holder`, who may
  // be null.
  void ChargeTo(Budget* budget, std::shared_ptr<Holder> holder) {
    budget_ = budget;
    holder_ = std::move(holder);
  }
  // The budget's most recent refusal; OK if it has refused nothing since the last Clear().
  const absl::Status& refusal() const { return refusal_; }
  // The reason why Allocate, Adopt or CopyAligned returned null for `what`: UNAVAILABLE.
  absl::Status WhyNothing(const char* what) const;
  // Who pays for memory that is needed only while a request is read.
  ParseBudget parse_budget() const { return ParseBudget(budget_, holder_); }

  // `byte_size` uninitialised bytes on a 64-byte boundary; null if memory is exhausted. Valid until
  // Clear(). A `byte_size` of 0 gives a pointer that must not be read.
  char* Allocate(size_t byte_size);
  // Keeps `bytes` and returns their address; null if the budget refuses them.
  const char* Adopt(std::string bytes);
  // Copies a binary tensor whose elements are misaligned, and counts the copy. Null if memory is
  // exhausted.
  const char* CopyAligned(const char* bytes, size_t byte_size);
  // Where Borrow looks for regions; null, as at first: there are none. Not owned; outlives the
  // buffers.
  void set_shared_memory(const SharedMemoryRegistry* registry) { shared_memory_ = registry; }
  // The bytes of `range` for a tensor of `data_type`, which stay mapped until Clear(): in place, or
  // copied if they are misaligned or if their validity depends on what they say (BYTES), because
  // the client can change them at any time. Bytes of a GPU are always borrowed, and charged,
  // because the core copies them for a backend that computes on CPUs. NOT_FOUND or INVALID_ARGUMENT
  // for a wrong range.
  absl::StatusOr<InputBuffer> Borrow(const SharedMemoryRange& range, DataType data_type);
  // The same for an output that is written there; the slice keeps it mapped, and nothing is
  // charged.
  absl::StatusOr<SharedMemorySlice> FindOutput(const SharedMemoryRange& range) const;

  // Frees everything, so that the object can serve the next request.
  void Clear();

  // Bytes copied by CopyAligned since the last Clear().
  uint64_t bytes_copied() const { return bytes_copied_; }

 private:
  struct Free {
    void operator()(char* block) const { std::free(block); }
  };
  // False if the budget refuses `bytes` more.
  bool Charge(uint64_t bytes);

  // Small requests fit in this buffer and need no allocation.
  static constexpr size_t kInlineBytes = 512;

  alignas(kAlignment) char inline_[kInlineBytes];
  size_t inline_used_ = 0;
  absl::InlinedVector<std::unique_ptr<char[], Free>, 2> blocks_;
  absl::InlinedVector<std::unique_ptr<std::string>, 1> adopted_;
  uint64_t bytes_copied_ = 0;
  Budget* budget_ = nullptr;
  std::shared_ptr<Holder> holder_;
  BudgetUnits units_;
  absl::Status refusal_;
  const SharedMemoryRegistry* shared_memory_ = nullptr;
  absl::InlinedVector<std::shared_ptr<const RegionMemory>, 1> regions_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_REQUEST_BUFFERS_H_
