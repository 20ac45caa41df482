// RequestBuffers: memory of one request's tensors that are not views into the received body:
// tensors sent as JSON, and binary ones that had to be moved to an aligned place. Owned by the
// frontend's request, next to the body; outlives the request's flight. Thread-compatible.
//
// What it allocates is charged to a budget, if it has one. A refusal shows as memory that is short;
// refusal() says more.
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

#include "base/budget.h"

namespace nereid {

class RequestBuffers {
 public:
  static constexpr size_t kAlignment = 64;

  RequestBuffers() = default;
  RequestBuffers(const RequestBuffers&) = delete;
  RequestBuffers& operator=(const RequestBuffers&) = delete;

  // Has `budget` (not owned; outlives this) pay from now on, as for a client that holds `held` of
  // it besides.
  void ChargeTo(Budget* budget, uint64_t held) {
    budget_ = budget;
    held_besides_ = held;
  }
  // What the budget said when it refused something; OK if it never did since the last Clear().
  const absl::Status& refusal() const { return refusal_; }
  // Why Allocate, Adopt or CopyAligned gave nothing for `what`: UNAVAILABLE.
  absl::Status WhyNothing(const char* what) const;
  // Units for `bytes` that are needed only while a request is read. Refused as anything else.
  absl::StatusOr<BudgetUnits> TakeWorkspace(uint64_t bytes);

  // `byte_size` bytes on a 64-byte boundary, not initialised; null when memory is short. Valid
  // until Clear(); `byte_size` 0 gives a pointer that must not be read.
  char* Allocate(size_t byte_size);
  // Keeps `bytes` and returns where they lie; null when the budget refuses them.
  const char* Adopt(std::string bytes);
  // Copies a binary tensor that lies where its elements must not lie, and counts the copy. Null
  // when memory is short.
  const char* CopyAligned(const char* bytes, size_t byte_size);
  // Forgets everything; the object can serve the next request.
  void Clear();

  // Bytes copied by CopyAligned since the last Clear().
  uint64_t bytes_copied() const { return bytes_copied_; }

 private:
  struct Free {
    void operator()(char* block) const { std::free(block); }
  };
  // False when the budget refuses `bytes` more.
  bool Charge(uint64_t bytes);

  // Small requests fit in here and cost no allocation.
  static constexpr size_t kInlineBytes = 512;

  alignas(kAlignment) char inline_[kInlineBytes];
  size_t inline_used_ = 0;
  absl::InlinedVector<std::unique_ptr<char[], Free>, 2> blocks_;
  absl::InlinedVector<std::unique_ptr<std::string>, 1> adopted_;
  uint64_t bytes_copied_ = 0;
  Budget* budget_ = nullptr;
  uint64_t held_besides_ = 0;
  BudgetUnits units_;
  absl::Status refusal_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_REQUEST_BUFFERS_H_
