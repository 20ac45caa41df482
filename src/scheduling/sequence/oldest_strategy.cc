#include "scheduling/sequence/oldest_strategy.h"

#include <utility>

namespace nereid {

OldestStrategy::OldestStrategy(const CompiledModel* config)
    : former_(config),
      orderer_(config->batching.preserve_ordering ? std::make_shared<ResponseOrderer>() : nullptr) {
}

void OldestStrategy::Offer(LiveSequence* sequence, TimePoint now) {
  RequestPtr& request = sequence->queue.front().request;
  InferRequest* const bare = request.get();
  if (orderer_ != nullptr && !bare->is_filler() && !bare->stream()->has_relay()) {
    bare->stream()->SetRelay(ResponseOrderer::Reserve(orderer_));
  }
  former_.Push(&request, now);  // succeeds: this queue has no limit
  sequence->taken.splice(sequence->taken.begin(), sequence->queue, sequence->queue.begin());
  sequence->offered = true;
  sequence->taken_over = bare;
}

void OldestStrategy::Withdraw(LiveSequence* sequence) {
  sequence->offered = false;
  RequestPtr request = former_.Remove(std::exchange(sequence->taken_over, nullptr));
  sequence->queue.splice(sequence->queue.begin(), sequence->taken);
  sequence->queue.front() = {std::move(request), TimePoint()};
}

BatchDecision OldestStrategy::Due(TimePoint now) {
  return former_.empty() ? BatchDecision() : former_.Decide(now);
}

std::vector<SequencePick> OldestStrategy::Take(size_t places) {
  std::vector<SequencePick> picks;
  picks.reserve(places);
  for (RequestPtr& request : former_.Take(places)) {
    LiveSequence* const sequence = request->FindSlot<LiveSequence>();
    sequence->offered = false;
    sequence->taken_over = nullptr;
    picks.push_back({sequence, std::move(request)});
  }
  return picks;
}

}  // namespace nereid
