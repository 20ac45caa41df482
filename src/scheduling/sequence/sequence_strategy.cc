// SPDX-License-Identifier: Apache-2.0
#include "scheduling/sequence/sequence_strategy.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "scheduling/dynamic/batch_former.h"
#include "scheduling/ordered_scheduler.h"

namespace nereid {
namespace {

// ---- Direct.

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

class DirectStrategy final : public SequenceStrategy {
 public:
  explicit DirectStrategy(const CompiledModel* config);

  void Offer(LiveSequence* sequence, TimePoint now) override;
  void Withdraw(LiveSequence* sequence) override;
  BatchDecision Due(TimePoint now) override;
  std::vector<SequencePick> Take(size_t places) override;

 private:
  // The first offered sequence whose slot is not below `slot`.
  std::vector<LiveSequence*>::iterator From(uint32_t slot);

  const CompiledModel* const config_;
  const size_t wanted_;  // with this many requests a batch does not wait
  // By slot. Only these: the configuration may allow any number of slots.
  std::vector<LiveSequence*> offered_;
  uint32_t next_ = 0;  // the slot whose shape comes next
};

DirectStrategy::DirectStrategy(const CompiledModel* config)
    : config_(config), wanted_(Wanted(config->sequence)) {}

std::vector<LiveSequence*>::iterator DirectStrategy::From(uint32_t slot) {
  return std::lower_bound(
      offered_.begin(), offered_.end(), slot,
      [](const LiveSequence* sequence, uint32_t wanted) { return sequence->lease->slot < wanted; });
}

void DirectStrategy::Offer(LiveSequence* sequence, TimePoint) {
  offered_.insert(From(sequence->lease->slot), sequence);
  sequence->offered = true;
}

void DirectStrategy::Withdraw(LiveSequence* sequence) {
  sequence->offered = false;
  offered_.erase(From(sequence->lease->slot));
}

BatchDecision DirectStrategy::Due(TimePoint now) {
  if (offered_.empty()) return {};
  const size_t places = size_t{offered_.back()->lease->slot} + 1;
  if (offered_.size() >= wanted_) return {places, std::nullopt, BatchReason::kSequenceSlots};
  TimePoint oldest = TimePoint::max();
  for (const LiveSequence* sequence : offered_) {
    oldest = std::min(oldest, sequence->queue.front().queued_at);
  }
  const TimePoint deadline = Later(oldest, config_->sequence.max_queue_delay);
  if (now >= deadline) return {places, std::nullopt, BatchReason::kDelayOver};
  return {0, deadline};
}

std::vector<SequencePick> DirectStrategy::Take(size_t places) {
  std::vector<SequencePick> picks(places);
  auto begin = From(next_);
  if (begin == offered_.end()) begin = offered_.begin();
  const InferRequest* const first = (*begin)->queue.front().request.get();
  const uint32_t turn = (*begin)->lease->slot;
  // The first slots that are left out: of all, and of those behind the one whose turn it is.
  std::optional<uint32_t> lowest;
  std::optional<uint32_t> behind;
  for (LiveSequence* const sequence : offered_) {
    const uint32_t slot = sequence->lease->slot;
    const InferRequest* const request = sequence->queue.front().request.get();
    if (request == first || MayShareBatch(*config_, *first, *request)) {
      picks[slot].sequence = sequence;
      continue;
    }
    if (!lowest.has_value()) lowest = slot;
    if (!behind.has_value() && slot > turn) behind = slot;
  }
  // From here on nothing can fail.
  next_ = behind.value_or(lowest.value_or(0));
  for (SequencePick& pick : picks) {
    if (pick.sequence == nullptr) continue;
    LiveSequence& sequence = *pick.sequence;
    pick.request = std::move(sequence.queue.front().request);
    sequence.taken.splice(sequence.taken.begin(), sequence.queue, sequence.queue.begin());
    sequence.offered = false;
  }
  std::erase_if(offered_, [](const LiveSequence* sequence) { return !sequence->offered; });
  return picks;
}

// ---- Oldest.

class OldestStrategy final : public SequenceStrategy {
 public:
  explicit OldestStrategy(const CompiledModel* config);

  void Offer(LiveSequence* sequence, TimePoint now) override;
  void Withdraw(LiveSequence* sequence) override;
  BatchDecision Due(TimePoint now) override;
  std::vector<SequencePick> Take(size_t places) override;

 private:
  BatchFormer former_;
  const std::shared_ptr<ResponseOrderer> orderer_;  // null: responses leave when they are ready
};

OldestStrategy::OldestStrategy(const CompiledModel* config)
    : former_(config),
      orderer_(config->batching.preserve_ordering ? std::make_shared<ResponseOrderer>() : nullptr) {
}

void OldestStrategy::Offer(LiveSequence* sequence, TimePoint now) {
  RequestPtr& request = sequence->queue.front().request;
  InferRequest* const bare = request.get();
  if (orderer_ != nullptr && !bare->is_synthetic() && !bare->stream()->has_relay()) {
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

}  // namespace

std::unique_ptr<SequenceStrategy> SequenceStrategy::Make(const CompiledModel* config) {
  if (config->sequence.oldest) return std::make_unique<OldestStrategy>(config);
  return std::make_unique<DirectStrategy>(config);
}

}  // namespace nereid
