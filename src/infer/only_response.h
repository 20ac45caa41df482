// OnlyResponse: the response of a request that must get exactly one: keeps the first and counts the
// others, which are an error of the model.
//
// Part of a Flight. Add may be called by several threads at a time, as Flight::OnResponse is; the
// other methods only once Add has returned true.
#ifndef NEREID_INFER_ONLY_RESPONSE_H_
#define NEREID_INFER_ONLY_RESPONSE_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/export.h"
#include "infer/response.h"

namespace nereid {

class NEREID_API OnlyResponse {
 public:
  // Takes the arguments of Flight::OnResponse. True: it was the final one.
  [[nodiscard]] bool Add(std::unique_ptr<InferResponse> response, bool is_final) {
    if (response == nullptr) return is_final;
    uint32_t before;
    if (is_final) {  // all other calls have returned
      before = count();
      count_.store(before + 1, std::memory_order_relaxed);
    } else {
      before = count_.fetch_add(1, std::memory_order_relaxed);
    }
    if (before == 0) first_ = std::move(response);
    return is_final;
  }

  // Number of responses.
  uint32_t count() const { return count_.load(std::memory_order_relaxed); }
  // The first response; null if there was none, or if it was taken.
  const InferResponse* first() const { return first_.get(); }
  // The response, if it is the only one and no error. Otherwise its error, or INTERNAL "expected a
  // single response, got N".
  absl::StatusOr<std::unique_ptr<InferResponse>> Take();

 private:
  std::atomic<uint32_t> count_{0};
  std::unique_ptr<InferResponse> first_;
};

}  // namespace nereid

#endif  // NEREID_INFER_ONLY_RESPONSE_H_
