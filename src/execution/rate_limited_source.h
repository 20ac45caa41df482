// SPDX-License-Identifier: Apache-2.0
// RateLimitedSource: gives an instance a batch only once the instance holds the resources that it
// needs. Owned by the model, one per instance. Used by the instance's thread, except for Close.
//
// The instance asks for resources when a batch is due, and takes the batch when it has the
// resources. Until then the batch may grow, lose cancelled requests, or go to another instance; in
// the last case the resources go back unused. If another batch is due after an execution, the
// instance asks again before the resources that it held go to others: otherwise priorities would
// not decide between busy models.
#ifndef NEREID_EXECUTION_RATE_LIMITED_SOURCE_H_
#define NEREID_EXECUTION_RATE_LIMITED_SOURCE_H_

#include <atomic>
#include <memory>
#include <optional>

#include "execution/rate_limiter.h"
#include "scheduling/scheduler.h"

namespace nereid {

class RateLimitedSource final : public BatchSource {
 public:
  // `inner` and `clock` outlive this.
  RateLimitedSource(StagedSource* inner, std::unique_ptr<RateLimiter::Seat> seat, Clock* clock)
      : inner_(inner), seat_(std::move(seat)), clock_(clock) {}

  // Never lends `self`. Gives back the resources of the last batch.
  Batch Pull(BatchExecutor* self, std::optional<Duration> took) override;
  // An instance that waits for resources stops waiting and gets an empty batch. So does an instance
  // that waits for work, as soon as `inner` lets it look again. Thread-safe.
  void Close() {
    closed_.store(true, std::memory_order_release);
    seat_->Close();
  }

 private:
  // Blocks until a batch is due and the resources are held; false if that will not happen any more.
  bool AwaitTurn(BatchExecutor* self);
  // Blocks until the requested resources are held.
  bool AwaitResources();
  // Whether `self` leaves what is due to others.
  bool Yields(const BatchExecutor* self) const;
  bool closed() const { return closed_.load(std::memory_order_acquire); }

  StagedSource* const inner_;
  const std::unique_ptr<RateLimiter::Seat> seat_;
  Clock* const clock_;
  uint64_t staged_ns_ = 0;  // when the wait for the resources held began; 0: there was none
  bool holding_ = false;    // for the batch that is being executed
  std::atomic<bool> closed_{false};
};

}  // namespace nereid

#endif  // NEREID_EXECUTION_RATE_LIMITED_SOURCE_H_
