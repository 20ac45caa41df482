// IdleReaper: tells which sequences have been without a request for too long. Knows sequences by
// number. No lock, no clock. Thread-compatible; owned by a scheduler, which ends those sequences.
#ifndef NEREID_SCHEDULING_SEQUENCE_IDLE_REAPER_H_
#define NEREID_SCHEDULING_SEQUENCE_IDLE_REAPER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/clock.h"

namespace nereid {

class IdleReaper {
 public:
  // A sequence may be idle for `limit`.
  explicit IdleReaper(Duration limit) : limit_(limit) {}

  // `sequence` is idle from `since` on. If this throws, the sequence is not watched.
  void Watch(uint64_t sequence, TimePoint since);
  // `sequence` has work again, or has ended. False if it was not watched.
  bool Forget(uint64_t sequence);

  // When the next sequence will have been idle for too long; none: none is idle.
  std::optional<TimePoint> next() const;
  // Of the sequences that have been idle for too long at `now`, the one that has been idle longest;
  // none if there is no such sequence.
  std::optional<uint64_t> FirstIdle(TimePoint now) const;
  bool Watches(uint64_t sequence) const { return ends_.count(sequence) > 0; }

  size_t watched() const { return ends_.size(); }

 private:
  const Duration limit_;
  std::set<std::pair<TimePoint, uint64_t>> line_;
  std::unordered_map<uint64_t, TimePoint> ends_;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SEQUENCE_IDLE_REAPER_H_
