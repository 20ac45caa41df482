#include "scheduling/ordered/response_orderer.h"

#include <utility>

namespace nereid {

// Owned by a stream. Several threads may relay responses at the same time.
class ResponseOrderer::Place final : public ResponseRelay {
 public:
  Place(std::shared_ptr<ResponseOrderer> orderer, uint64_t number)
      : orderer_(std::move(orderer)), number_(number) {}
  ~Place() override {
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
  orderer->places_.emplace_back();
  try {
    return std::make_unique<Place>(orderer, orderer->first_ + orderer->places_.size() - 1);
  } catch (...) {  // a place without an owner would hold up all later places
    orderer->places_.pop_back();
    throw;
  }
}

size_t ResponseOrderer::kept() const {
  MutexLock lock(&mu_);
  size_t count = 0;
  for (const PlaceState& place : places_) count += place.kept.size() + place.final.has_value();
  return count;
}

void ResponseOrderer::Relay(uint64_t number, Kept kept) {
  MutexLock lock(&mu_);
  PlaceState& place = places_[number - first_];
  if ((kept.flags & kResponseCompleteFinal) != 0) {
    place.ended = true;
    place.final = std::move(kept);
  } else {
    place.kept.push_back(std::move(kept));
  }
  Flush();
}

void ResponseOrderer::End(uint64_t number) {
  MutexLock lock(&mu_);
  places_[number - first_].ended = true;
  Flush();
}

void ResponseOrderer::Flush() {
  if (flushing_) return;
  flushing_ = true;
  while (!places_.empty()) {
    PlaceState& place = places_.front();
    if (place.kept.empty() && !place.final.has_value()) {
      if (!place.ended) break;
      places_.pop_front();
      ++first_;
      continue;
    }
    std::vector<Kept> kept = std::exchange(place.kept, {});
    std::optional<Kept> final = std::exchange(place.final, std::nullopt);
    mu_.Unlock();
    for (Kept& k : kept) k.target.fn(k.response.release(), k.flags, k.target);
    if (final.has_value()) final->target.fn(final->response.release(), final->flags, final->target);
    kept.clear();
    mu_.Lock();
  }
  flushing_ = false;
}

}  // namespace nereid
