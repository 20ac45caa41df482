// RateLimitedSource: gives an instance its batches only once it holds the resources that it needs.
// Owned by the model, one for each instance; used by the instance's thread, but for Close.
//
// The instance asks for resources when a batch is due, and takes it when it has them: until then
// the batch may grow, lose cancelled requests, or go to another instance. In that case the
// resources go back unused. An instance that has executed a batch, and for which another one is
// due, asks again before what it held goes to others: only so do priorities decide between busy
// models.
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
  // `inner` outlives this.
  RateLimitedSource(StagedSource* inner, std::unique_ptr<RateLimiter::Seat> seat)
      : inner_(inner), seat_(std::move(seat)) {}

  // Never lends `self`. What the last batch needed is given back.
  Batch Pull(BatchExecutor* self, std::optional<Duration> took) override;
  // An instance that waits for resources stops waiting, with an empty batch, and so does one that
  // waits for work as soon as `inner` lets it look again. Thread-safe.
  void Close() {
    closed_.store(true, std::memory_order_release);
    seat_->Close();
  }

 private:
  // Blocks until a batch is due and the resources are held; false: neither is to come.
  bool AwaitTurn();
  // Blocks until the resources that were asked for are held.
  bool AwaitResources();
  bool closed() const { return closed_.load(std::memory_order_acquire); }

  StagedSource* const inner_;
  const std::unique_ptr<RateLimiter::Seat> seat_;
  bool holding_ = false;  // for the batch that is being executed
  std::atomic<bool> closed_{false};
};

}  // namespace nereid

#endif  // NEREID_EXECUTION_RATE_LIMITED_SOURCE_H_
