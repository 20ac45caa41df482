#include "execution/rate_limited_source.h"

#include <absl/cleanup/cleanup.h>

#include <utility>

namespace nereid {

Batch RateLimitedSource::Pull(BatchExecutor*, std::optional<Duration>) {
  while (AwaitTurn()) {
    // Runs also if TryPull throws because there is no memory for a batch.
    absl::Cleanup give_back = [this] { seat_->Release(/*used=*/false); };
    std::optional<Batch> batch = inner_->TryPull();
    holding_ = batch.has_value() && !batch->empty();
    if (holding_) {
      batch->origin.staged_ns = staged_ns_;
      std::move(give_back).Cancel();
    }
    if (batch.has_value()) return *std::move(batch);
  }
  return {};
}

bool RateLimitedSource::AwaitTurn() {
  staged_ns_ = 0;
  if (holding_) {
    const bool more = !closed() && inner_->HasDue();  // the seat keeps all if this throws
    holding_ = false;
    if (more) return seat_->Restage() || AwaitResources();
    seat_->Release(/*used=*/true);
  }
  if (closed() || !inner_->AwaitDue()) return false;
  if (closed()) {
    inner_->PassOn();  // another instance takes the batch that is due
    return false;
  }
  return seat_->Stage() || AwaitResources();
}

bool RateLimitedSource::AwaitResources() {
  staged_ns_ = ToNanos(clock_->Now());
  inner_->PassOn();
  return seat_->Await();
}

}  // namespace nereid
