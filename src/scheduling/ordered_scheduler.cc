// SPDX-License-Identifier: Apache-2.0
#include "scheduling/ordered_scheduler.h"

#include <utility>

#include "infer/infer_request.h"

namespace nereid {

// Owned by a stream. Several threads may relay responses at the same time.
class ResponseOrderer::Turn final : public ResponseRelay {
 public:
  Turn(std::shared_ptr<ResponseOrderer> orderer, uint64_t number)
      : orderer_(std::move(orderer)), number_(number) {}
  ~Turn() override {
    if (!ended_) orderer_->End(number_);
  }

  void Relay(std::unique_ptr<InferResponse> response, uint32_t flags,
             const ResponseTarget& target) override {
    // The stream relays nothing more after the final response.
    if ((flags & kResponseCompleteFinal) != 0) ended_ = true;
    orderer_->Relay(number_, {std::move(response), flags, target});
  }

 private:
  const std::shared_ptr<ResponseOrderer> orderer_;
  const uint64_t number_;
  bool ended_ = false;
};

std::unique_ptr<ResponseRelay> ResponseOrderer::Reserve(
    const std::shared_ptr<ResponseOrderer>& orderer) {
  MutexLock lock(&orderer->mu_);
  orderer->turns_.emplace_back();
  try {
    return std::make_unique<Turn>(orderer, orderer->first_ + orderer->turns_.size() - 1);
  } catch (...) {  // a turn without an owner would hold up all later ones
    orderer->turns_.pop_back();
    throw;
  }
}

size_t ResponseOrderer::kept() const {
  MutexLock lock(&mu_);
  size_t count = 0;
  for (const TurnState& turn : turns_) count += turn.kept.size() + turn.final.has_value();
  return count;
}

void ResponseOrderer::Relay(uint64_t number, Kept kept) {
  Ready ready;
  {
    MutexLock lock(&mu_);
    TurnState& turn = turns_[number - first_];
    if ((kept.flags & kResponseCompleteFinal) != 0) {
      turn.ended = true;
      turn.final = std::move(kept);
    } else {
      turn.kept.push_back(std::move(kept));
    }
    ready = BeginDelivery();
  }
  Deliver(std::move(ready));
}

void ResponseOrderer::End(uint64_t number) {
  Ready ready;
  {
    MutexLock lock(&mu_);
    turns_[number - first_].ended = true;
    ready = BeginDelivery();
  }
  Deliver(std::move(ready));
}

ResponseOrderer::Ready ResponseOrderer::BeginDelivery() {
  if (delivering_) return {};
  delivering_ = true;
  return TakeReady();
}

ResponseOrderer::Ready ResponseOrderer::TakeReady() {
  while (!turns_.empty()) {
    TurnState& turn = turns_.front();
    Ready ready = {std::exchange(turn.kept, {}), std::exchange(turn.final, std::nullopt)};
    if (!ready.empty()) return ready;
    if (!turn.ended) break;
    turns_.pop_front();
    ++first_;
  }
  delivering_ = false;
  return {};
}

void ResponseOrderer::Deliver(Ready ready) {
  while (!ready.empty()) {
    for (Kept& k : ready.kept) k.target.fn(k.response.release(), k.flags, k.target);
    if (std::optional<Kept>& final = ready.final; final.has_value()) {
      final->target.fn(final->response.release(), final->flags, final->target);
    }
    ready = {};  // without the mutex
    MutexLock lock(&mu_);
    ready = TakeReady();
  }
}

absl::Status OrderedScheduler::Enqueue(RequestPtr* request) {
  (*request)->stream()->SetRelay(ResponseOrderer::Reserve(orderer_));
  // A refused request ends its turn when its stream is destroyed.
  return inner().Enqueue(request);
}

}  // namespace nereid
