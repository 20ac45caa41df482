#include "scheduling/sequence/idle_reaper.h"

#include "scheduling/queue/queue_policy.h"

namespace nereid {

void IdleReaper::Watch(uint64_t sequence, TimePoint since) {
  Forget(sequence);
  const TimePoint end = Later(since, limit_);
  line_.insert({end, sequence});
  ends_.emplace(sequence, end);
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

std::vector<uint64_t> IdleReaper::TakeIdle(TimePoint now) {
  std::vector<uint64_t> idle;
  while (!line_.empty() && line_.begin()->first <= now) {
    idle.push_back(line_.begin()->second);
    Forget(idle.back());
  }
  return idle;
}

}  // namespace nereid
