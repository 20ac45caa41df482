// SPDX-License-Identifier: Apache-2.0
#include "scheduling/sequence/sequence_tables.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "scheduling/dynamic/request_queue.h"

namespace nereid {

uint32_t SlotTable::Place::LowestFree() const {
  return free.empty() ? static_cast<uint32_t>(generations.size()) : free.front();
}

uint64_t SlotTable::Place::Take(uint32_t slot) {
  if (!free.empty()) {
    std::pop_heap(free.begin(), free.end(), std::greater<>());
    free.pop_back();
  } else {
    // Room for every slot, so that Free takes no memory.
    if (free.capacity() <= slot) free.reserve(2 * size_t{slot} + 1);
    generations.push_back(0);
  }
  return ++generations[slot];
}

std::optional<SlotLease> SlotTable::Take(absl::FunctionRef<bool(uint32_t instance)> gives) {
  SlotLease lease{0, slots_per_instance_, 0};
  for (uint32_t i = 0; i < places_.size(); ++i) {
    const uint32_t slot = places_[i].LowestFree();
    if (slot < lease.slot && gives(i)) lease = {i, slot, 0};
  }
  if (lease.slot == slots_per_instance_) return std::nullopt;
  lease.generation = places_[lease.instance].Take(lease.slot);
  ++in_use_;
  return lease;
}

bool SlotTable::Holds(const SlotLease& lease) const {
  if (lease.instance >= places_.size()) return false;
  const std::vector<uint64_t>& generations = places_[lease.instance].generations;
  return lease.slot < generations.size() && generations[lease.slot] == lease.generation &&
         lease.generation % 2 == 1;
}

bool SlotTable::Free(const SlotLease& lease) {
  if (!Holds(lease)) return false;
  Place& place = places_[lease.instance];
  ++place.generations[lease.slot];
  place.free.push_back(lease.slot);
  std::push_heap(place.free.begin(), place.free.end(), std::greater<>());
  --in_use_;
  return true;
}

void Backlog::Add(uint64_t sequence, TimePoint deadline) {
  auto found = entries_.find(sequence);
  const TimePoint before = found == entries_.end() ? TimePoint::max() : found->second->deadline;
  // The steps that take memory come first. If one throws, the steps before it leave no trace.
  std::set<std::pair<TimePoint, uint64_t>> sooner;
  if (deadline < before) sooner.insert({deadline, sequence});
  if (found == entries_.end()) {
    Line one = {{sequence, TimePoint::max(), 0}};
    found = entries_.emplace(sequence, one.begin()).first;
    line_.splice(line_.end(), one);
  }
  Entry& entry = *found->second;
  ++requests_;
  ++entry.requests;
  if (sooner.empty()) return;
  deadlines_.erase({entry.deadline, sequence});
  entry.deadline = deadline;
  deadlines_.merge(sooner);
}

void Backlog::Erase(Line::iterator entry) {
  requests_ -= entry->requests;
  deadlines_.erase({entry->deadline, entry->sequence});
  entries_.erase(entry->sequence);
  line_.erase(entry);
}

bool Backlog::Remove(uint64_t sequence) {
  const auto found = entries_.find(sequence);
  if (found == entries_.end()) return false;
  Erase(found->second);
  return true;
}

std::optional<uint64_t> Backlog::PopFront() {
  if (line_.empty()) return std::nullopt;
  const uint64_t sequence = line_.front().sequence;
  Erase(line_.begin());
  return sequence;
}

std::optional<TimePoint> Backlog::earliest_deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

std::optional<uint64_t> Backlog::FirstExpired(TimePoint now) const {
  if (deadlines_.empty() || deadlines_.begin()->first > now) return std::nullopt;
  return deadlines_.begin()->second;
}

std::optional<uint64_t> Backlog::front() const {
  if (line_.empty()) return std::nullopt;
  return line_.front().sequence;
}

void IdleReaper::Watch(uint64_t sequence, TimePoint since) {
  Forget(sequence);
  const TimePoint end = Later(since, limit_);
  const auto added = line_.insert({end, sequence}).first;
  try {
    ends_.emplace(sequence, end);
  } catch (...) {
    line_.erase(added);
    throw;
  }
}

bool IdleReaper::Forget(uint64_t sequence) {
  const auto watched = ends_.find(sequence);
  if (watched == ends_.end()) return false;
  line_.erase({watched->second, sequence});
  ends_.erase(watched);
  return true;
}

std::optional<TimePoint> IdleReaper::next() const {
  if (line_.empty()) return std::nullopt;
  return line_.begin()->first;
}

std::optional<uint64_t> IdleReaper::FirstIdle(TimePoint now) const {
  if (line_.empty() || line_.begin()->first > now) return std::nullopt;
  return line_.begin()->second;
}

}  // namespace nereid
