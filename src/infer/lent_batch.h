// LentBatch: which requests of one execution a backend has given back. Thread-safe.
//
// A backend may release a request from any thread, at any time, and the request's owner may free
// the request at once. If Execute returns an error, the server has to answer exactly the requests
// that are not yet released. The request itself cannot say whether it is released, so a LentBatch,
// which the instance and the requests share, keeps that fact.
#ifndef NEREID_INFER_LENT_BATCH_H_
#define NEREID_INFER_LENT_BATCH_H_

#include <absl/container/fixed_array.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace nereid {

class LentBatch {
 public:
  // `lender` is released when the last request is back.
  explicit LentBatch(size_t size, std::shared_ptr<const void> lender = nullptr)
      : lender_(std::move(lender)), taken_(size) {}

  // Claims request `slot`, for the backend that releases it or for the server that takes it back.
  // True for the first caller only.
  bool Claim(uint32_t slot) { return !taken_[slot].exchange(true, std::memory_order_acq_rel); }

 private:
  const std::shared_ptr<const void> lender_;
  absl::FixedArray<std::atomic<bool>, 64> taken_;  // small batches need no further memory
};

}  // namespace nereid

#endif  // NEREID_INFER_LENT_BATCH_H_
