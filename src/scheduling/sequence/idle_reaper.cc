#include "scheduling/sequence/idle_reaper.h"

#include "scheduling/queue/queue_policy.h"

namespace nereid {

void IdleReaper::Watch(uint64_t sequence, TimePoint since) {
  Forget(sequence);
  const TimePoint end = Later(since, limit_);
  const auto place = line_.insert({end, sequence}).first;
  try {
    ends_.emplace(sequence, end);
  } catch (...) {
    line_.erase(place);
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
