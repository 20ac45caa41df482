// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/scheduler/token_scheduler.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace nereid_backend {

TokenScheduler::TokenScheduler(const Limits& limits)
    : limits_(limits), pool_(limits.blocks, limits.block_size, limits.prefix_cache) {}

size_t TokenScheduler::BlocksFor(size_t tokens) const {
  const auto length = static_cast<size_t>(limits_.block_size);
  return (tokens + length - 1) / length;
}

bool TokenScheduler::ComesBefore(const Sequence& a, const Sequence& b) {
  return std::tie(a.priority, a.arrival) < std::tie(b.priority, b.arrival);
}

bool TokenScheduler::WaitsBefore(const Sequence& a, const Sequence& b) {
  if (a.priority != b.priority) return a.priority < b.priority;
  if (a.preempted != b.preempted) return a.preempted;
  if (!a.preempted && a.tenant->served != b.tenant->served) {
    return a.tenant->served < b.tenant->served;
  }
  return a.arrival < b.arrival;
}

TokenScheduler::Tenant* TokenScheduler::JoinTenant(const std::string& name) {
  uint64_t least = UINT64_MAX;
  for (const auto& [other, tenant] : tenants_) least = std::min(least, tenant.served);
  const auto [found, is_new] = tenants_.try_emplace(name);
  // One that was away has no claim to what the others got meanwhile.
  if (is_new && least != UINT64_MAX) found->second.served = least;
  ++found->second.sequences;
  return &found->second;
}

void TokenScheduler::LeaveTenant(const Sequence& sequence) {
  if (--sequence.tenant->sequences == 0) tenants_.erase(sequence.tenant_name);
}

TokenScheduler::Admission TokenScheduler::Add(SequenceSpec spec) {
  // The last token is never an input of the network.
  const size_t longest = spec.prompt.size() + static_cast<size_t>(spec.max_new_tokens) - 1;
  if (BlocksFor(longest) > pool_.size()) return Admission::kNeverFits;
  if (spec.counted && waiting_.size() >= limits_.max_waiting) return Admission::kTooManyWait;
  auto sequence = std::make_unique<Sequence>();
  sequence->id = spec.id;
  sequence->tokens = std::move(spec.prompt);
  sequence->priority = spec.priority;
  sequence->arrival = arrivals_++;
  sequence->tenant = JoinTenant(spec.tenant);
  sequence->tenant_name = std::move(spec.tenant);
  sequence->deadline = spec.deadline;
  waiting_.push_back(sequence.get());
  sequences_.emplace(spec.id, std::move(sequence));
  return Admission::kTaken;
}

Step TokenScheduler::Plan(TokenTime now) {
  Step step;
  Expire(now, &step.expired);
  for (Sequence* sequence : running_) sequence->planned = 0;
  budget_ = static_cast<size_t>(limits_.max_step_tokens);
  PlanRunning(/*next_tokens=*/true);
  PlanRunning(/*next_tokens=*/false);
  PlanWaiting();
  for (const Sequence* sequence : running_) {
    if (sequence->planned == 0) continue;
    sequence->tenant->served += sequence->planned;
    const std::span<const Token> tokens(sequence->tokens);
    step.parts.push_back({.id = sequence->id,
                          .tokens = tokens.subspan(sequence->computed, sequence->planned),
                          .past = static_cast<int64_t>(sequence->computed),
                          .blocks = std::span<const int32_t>(sequence->blocks)
                                        .first(BlocksFor(sequence->computed + sequence->planned)),
                          .is_last = sequence->planned == sequence->pending()});
  }
  return step;
}

void TokenScheduler::Expire(TokenTime now, std::vector<uint64_t>* expired) {
  for (const Sequences* all : {&running_, &waiting_}) {
    for (const Sequence* sequence : *all) {
      if (sequence->deadline <= now) expired->push_back(sequence->id);
    }
  }
  for (const uint64_t id : *expired) End(id);
}

void TokenScheduler::PlanRunning(bool next_tokens) {
  // Preemption removes the last ones meanwhile.
  for (size_t i = 0; i < running_.size() && budget_ > 0; ++i) {
    Sequence* const sequence = running_[i];
    if (sequence->planned == 0 && (sequence->pending() == 1) == next_tokens) PlanPart(sequence);
  }
}

void TokenScheduler::PlanPart(Sequence* sequence) {
  const size_t tokens = std::min(sequence->pending(), budget_);
  if (!Grow(sequence, sequence->computed + tokens)) return;
  sequence->planned = tokens;
  budget_ -= tokens;
}

bool TokenScheduler::Grow(Sequence* sequence, size_t tokens) {
  while (sequence->blocks.size() < BlocksFor(tokens)) {
    if (const auto block = pool_.Take()) {
      sequence->blocks.push_back(*block);
      continue;
    }
    Sequence* const least = running_.back();
    Preempt(least);
    if (least == sequence) return false;
  }
  return true;
}

void TokenScheduler::PlanWaiting() {
  while (budget_ > 0 && !waiting_.empty()) {
    const auto first =
        std::min_element(waiting_.begin(), waiting_.end(),
                         [](const Sequence* a, const Sequence* b) { return WaitsBefore(*a, *b); });
    Sequence* const sequence = *first;
    if (running_.size() >= limits_.max_sequences) {
      if (running_.back()->priority <= sequence->priority) return;
      Preempt(running_.back());
    }
    if (!Start(sequence)) return;
    // Preemption has added to waiting_.
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), sequence));
    running_.insert(
        std::upper_bound(running_.begin(), running_.end(), sequence,
                         [](const Sequence* a, const Sequence* b) { return ComesBefore(*a, *b); }),
        sequence);
    PlanPart(sequence);
  }
}

bool TokenScheduler::Start(Sequence* sequence) {
  // The last token has to be computed, whatever is found.
  const std::span<const Token> tokens(sequence->tokens);
  std::vector<int32_t> blocks = pool_.Find(tokens.first(tokens.size() - 1));
  const size_t found = blocks.size();
  const size_t needed = BlocksFor(tokens.size()) - found;
  while (pool_.available() < needed) {
    if (running_.empty() || running_.back()->priority <= sequence->priority) {
      pool_.Release(blocks);
      return false;
    }
    Preempt(running_.back());
  }
  for (size_t i = 0; i < needed; ++i) blocks.push_back(*pool_.Take());
  sequence->blocks = std::move(blocks);
  sequence->kept = found;
  sequence->computed = found * static_cast<size_t>(limits_.block_size);
  sequence->planned = 0;
  counts_.prompt_tokens += tokens.size();
  counts_.cached_tokens += sequence->computed;
  return true;
}

void TokenScheduler::Preempt(Sequence* sequence) {
  budget_ += sequence->planned;
  sequence->planned = 0;
  sequence->preempted = true;
  ReleaseBlocks(sequence);
  running_.erase(std::find(running_.begin(), running_.end(), sequence));
  waiting_.push_back(sequence);
  ++counts_.preemptions;
}

void TokenScheduler::ReleaseBlocks(Sequence* sequence) {
  pool_.Release(sequence->blocks);
  sequence->blocks.clear();
  sequence->computed = 0;
  sequence->kept = 0;
}

void TokenScheduler::SetComputed(const Step& step) {
  const auto length = static_cast<size_t>(limits_.block_size);
  for (const StepPart& part : step.parts) {
    const auto found = sequences_.find(part.id);
    if (found == sequences_.end()) continue;
    Sequence& sequence = *found->second;
    sequence.computed += sequence.planned;
    sequence.planned = 0;
    const std::span<const Token> tokens(sequence.tokens);
    for (size_t& i = sequence.kept; (i + 1) * length <= sequence.computed; ++i) {
      const int32_t parent = i == 0 ? BlockPool::kNone : sequence.blocks[i - 1];
      sequence.blocks[i] =
          pool_.Keep(sequence.blocks[i], parent, tokens.subspan(i * length, length));
    }
  }
}

void TokenScheduler::Append(uint64_t id, Token token) {
  sequences_.at(id)->tokens.push_back(token);
}

void TokenScheduler::End(uint64_t id) {
  const auto found = sequences_.find(id);
  if (found == sequences_.end()) return;
  Sequence* const sequence = found->second.get();
  ReleaseBlocks(sequence);
  for (Sequences* all : {&running_, &waiting_}) std::erase(*all, sequence);
  LeaveTenant(*sequence);
  sequences_.erase(found);
}

std::span<const Token> TokenScheduler::TokensOf(uint64_t id) const {
  return sequences_.at(id)->tokens;
}

}  // namespace nereid_backend
