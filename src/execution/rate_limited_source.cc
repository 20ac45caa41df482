#include "execution/rate_limited_source.h"

#include <absl/cleanup/cleanup.h>

#include <utility>

namespace nereid {

Batch RateLimitedSource::Pull(BatchExecutor*, std::optional<Duration>) {
  if (std::exchange(holding_, false)) seat_->Release(/*used=*/true);
  while (!closed_.load(std::memory_order_acquire) && inner_->AwaitDue()) {
    if (closed_.load(std::memory_order_acquire)) {
      inner_->PassOn();  // what is due is another's
      return {};
    }
    if (!seat_->Stage()) {
      inner_->PassOn();
      if (!seat_->Await()) return {};
    }
    // Also where there is no memory for a batch.
    absl::Cleanup give_back = [this] { seat_->Release(/*used=*/false); };
    std::optional<Batch> batch = inner_->TryPull();
    holding_ = batch.has_value() && !batch->empty();
    if (holding_) std::move(give_back).Cancel();
    if (batch.has_value()) return *std::move(batch);
  }
  return {};
}

}  // namespace nereid
