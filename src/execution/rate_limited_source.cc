// SPDX-License-Identifier: Apache-2.0
#include "execution/rate_limited_source.h"

#include <absl/cleanup/cleanup.h>

#include <utility>

namespace nereid {

bool RateLimitedSource::Yields(const BatchExecutor* self) const {
  return self != nullptr && inner_->shared() && self->yields();
}

Batch RateLimitedSource::Pull(BatchExecutor* self, std::optional<Duration>) {
  while (AwaitTurn(self)) {
    // Runs also if TryPull throws because there is no memory for a batch.
    absl::Cleanup give_back = [this] { seat_->Release(/*used=*/false); };
    if (Yields(self)) {
      inner_->PassOn();
      continue;
    }
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

bool RateLimitedSource::AwaitTurn(BatchExecutor* self) {
  staged_ns_ = 0;
  if (holding_) {
    // The seat keeps all if this throws.
    const bool more = !closed() && !Yields(self) && inner_->HasDue();
    holding_ = false;
    if (more) return seat_->Restage() || AwaitResources();
    seat_->Release(/*used=*/true);
  }
  if (closed() || !inner_->AwaitDue(self)) return false;
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
