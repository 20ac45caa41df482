#include "scheduling/sequence/backlog.h"

#include <iterator>

namespace nereid {

void Backlog::Add(uint64_t sequence, TimePoint deadline) {
  ++requests_;
  const auto place = places_.find(sequence);
  Line::iterator entry;
  if (place == places_.end()) {
    line_.push_back({sequence, TimePoint::max(), 0});
    entry = std::prev(line_.end());
    places_.emplace(sequence, entry);
  } else {
    entry = place->second;
  }
  ++entry->requests;
  if (deadline >= entry->deadline) return;
  deadlines_.erase({entry->deadline, sequence});
  entry->deadline = deadline;
  deadlines_.insert({deadline, sequence});
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

std::vector<uint64_t> Backlog::TakeExpired(TimePoint now) {
  std::vector<uint64_t> expired;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    expired.push_back(deadlines_.begin()->second);
    Remove(expired.back());
  }
  return expired;
}

}  // namespace nereid
