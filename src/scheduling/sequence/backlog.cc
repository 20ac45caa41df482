#include "scheduling/sequence/backlog.h"

#include <utility>

namespace nereid {

void Backlog::Add(uint64_t sequence, TimePoint deadline) {
  auto place = places_.find(sequence);
  const TimePoint before = place == places_.end() ? TimePoint::max() : place->second->deadline;
  // The steps that take memory come first. If one throws, the steps before it leave no trace.
  std::set<std::pair<TimePoint, uint64_t>> sooner;
  if (deadline < before) sooner.insert({deadline, sequence});
  if (place == places_.end()) {
    Line one = {{sequence, TimePoint::max(), 0}};
    place = places_.emplace(sequence, one.begin()).first;
    line_.splice(line_.end(), one);
  }
  Entry& entry = *place->second;
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
  places_.erase(entry->sequence);
  line_.erase(entry);
}

bool Backlog::Remove(uint64_t sequence) {
  const auto place = places_.find(sequence);
  if (place == places_.end()) return false;
  Erase(place->second);
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

}  // namespace nereid
