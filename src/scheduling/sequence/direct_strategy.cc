#include "scheduling/sequence/direct_strategy.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "scheduling/dynamic/compatibility.h"
#include "scheduling/queue/queue_policy.h"

namespace nereid {
namespace {

size_t Wanted(const SequenceOptions& options) {
  if (options.max_queue_delay == Duration(0)) return 1;
  const double share = static_cast<double>(options.minimum_slot_utilization);
  // The smallest count whose share of the slots is enough. Compares as float, the type of the
  // configured share.
  size_t count = static_cast<size_t>(std::ceil(share * options.slots));
  while (count > 1 && static_cast<float>(count - 1) / static_cast<float>(options.slots) >=
                          options.minimum_slot_utilization) {
    --count;
  }
  return std::clamp<size_t>(count, 1, options.slots);
}

}  // namespace

DirectStrategy::DirectStrategy(const CompiledModel* config)
    : config_(config), wanted_(Wanted(config->sequence)), slots_(config->sequence.slots) {}

void DirectStrategy::Offer(LiveSequence* sequence, TimePoint) {
  sequence->offered = true;
  slots_[sequence->lease->slot] = sequence;
  ++ready_;
}

void DirectStrategy::Withdraw(LiveSequence* sequence) {
  sequence->offered = false;
  slots_[sequence->lease->slot] = nullptr;
  --ready_;
}

BatchDecision DirectStrategy::Due(TimePoint now) {
  if (ready_ == 0) return {};
  size_t places = 0;
  TimePoint oldest = TimePoint::max();
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot] == nullptr) continue;
    places = slot + 1;
    oldest = std::min(oldest, slots_[slot]->queue.front().queued_at);
  }
  if (ready_ >= wanted_) return {places, std::nullopt, BatchReason::kSequenceSlots};
  const TimePoint deadline = Later(oldest, config_->sequence.max_queue_delay);
  if (now >= deadline) return {places, std::nullopt, BatchReason::kDelayOver};
  return {0, deadline};
}

std::vector<SequencePick> DirectStrategy::Take(size_t places) {
  std::vector<SequencePick> picks(places);
  const InferRequest* first = nullptr;
  for (size_t slot = 0; slot < places; ++slot) {
    LiveSequence* const sequence = slots_[slot];
    if (sequence == nullptr) continue;
    RequestPtr& request = sequence->queue.front().request;
    if (first == nullptr) {
      first = request.get();
    } else if (!MayShareBatch(*config_, *first, *request)) {
      continue;
    }
    picks[slot] = {sequence, std::move(request)};
    sequence->taken.splice(sequence->taken.begin(), sequence->queue, sequence->queue.begin());
    Withdraw(sequence);
  }
  return picks;
}

}  // namespace nereid
