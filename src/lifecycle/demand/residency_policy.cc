// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/demand/residency_policy.h"

#include <algorithm>
#include <utility>

namespace nereid {
namespace {

// Models stay for a time, so that they do not chase each other out.
TimePoint StaysUntil(const ResidentModel& model) { return model.loaded_at + model.stays; }

bool MayLeave(const ResidentModel& model, TimePoint now) {
  return !model.busy && !model.pinned && StaysUntil(model) <= now;
}

uint64_t BytesInUse(const MemoryState& state) {
  uint64_t bytes = state.loading_bytes;
  for (const ResidentModel& model : state.residents) bytes += model.bytes;
  return bytes;
}

// The residents that may leave, least recently used first, until at most `goal` bytes are in use.
// Puts what then is in use into `*left`.
std::vector<size_t> LeastRecentlyUsed(const MemoryState& state, uint64_t goal, TimePoint now,
                                      uint64_t* left) {
  std::vector<size_t> order;
  for (size_t i = 0; i < state.residents.size(); ++i) {
    if (MayLeave(state.residents[i], now)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&state](size_t a, size_t b) {
    return state.residents[a].last_used < state.residents[b].last_used;
  });
  *left = BytesInUse(state);
  size_t taken = 0;
  for (; taken < order.size() && *left > goal; ++taken) {
    *left -= state.residents[order[taken]].bytes;
  }
  order.resize(taken);
  return order;
}

}  // namespace

LoadDecision DecideLoad(const MemoryState& state, uint64_t bytes, TimePoint now) {
  LoadDecision decision;
  uint64_t pinned = 0;
  for (const ResidentModel& model : state.residents) {
    if (model.pinned) pinned += model.bytes;
  }
  // A model of unknown size asks for one byte, so that it waits, too, where nothing is free.
  const uint64_t needed = std::max<uint64_t>(bytes, 1);
  decision.most_bytes = state.budget - std::min(pinned, state.budget);
  if (needed > decision.most_bytes) {
    decision.kind = LoadDecision::Kind::kRefuse;
    return decision;
  }
  // What an unknown model takes is known only after its load. Until then nothing else may begin,
  // because both together might not fit.
  if (state.loading_unknown || (bytes == 0 && state.loading > 0)) return decision;
  uint64_t left = 0;
  const uint64_t goal = state.budget - needed;
  std::vector<size_t> victims = LeastRecentlyUsed(state, goal, now, &left);
  // What is leaving makes enough room: to unload more would be for nothing.
  if (left <= goal && victims.empty() && left + state.leaving_bytes > goal) {
    decision.room_comes = true;
    return decision;
  }
  if (left <= goal) {
    decision.kind = LoadDecision::Kind::kBegin;
    decision.victims = std::move(victims);
    return decision;
  }
  // No room yet. The first model whose time to stay ends may change that without any other event.
  for (const ResidentModel& model : state.residents) {
    if (model.busy || model.pinned || StaysUntil(model) <= now) continue;
    decision.again_at = std::min(decision.again_at, StaysUntil(model));
  }
  return decision;
}

std::vector<size_t> DecideTrim(const MemoryState& state, TimePoint now) {
  uint64_t left = 0;
  return LeastRecentlyUsed(state, state.budget, now, &left);
}

std::vector<size_t> DecideIdle(const MemoryState& state, Duration limit, TimePoint now) {
  std::vector<size_t> idle;
  for (size_t i = 0; i < state.residents.size(); ++i) {
    const ResidentModel& model = state.residents[i];
    if (MayLeave(model, now) && now - model.last_used >= limit) idle.push_back(i);
  }
  return idle;
}

}  // namespace nereid
