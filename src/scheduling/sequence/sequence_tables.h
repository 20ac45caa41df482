// SPDX-License-Identifier: Apache-2.0
// What SequenceScheduler keeps of all sequences, by number: which has a slot of an instance
// (SlotTable), which wait for one (Backlog), and which were idle for too long (IdleReaper). No
// lock, no clock. Thread-compatible; owned by the scheduler and guarded by its mutex.
#ifndef NEREID_SCHEDULING_SEQUENCE_SEQUENCE_TABLES_H_
#define NEREID_SCHEDULING_SEQUENCE_SEQUENCE_TABLES_H_

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace nereid {

// The right to a slot. A lease that has ended cannot free the slot of its successor.
struct SlotLease {
  uint32_t instance = 0;
  uint32_t slot = 0;
  uint64_t generation = 0;

  friend bool operator==(const SlotLease&, const SlotLease&) = default;
};

// Which slots of a model's instances are taken by sequences. Every instance has the same number of
// slots. A new sequence gets the free slot with the lowest number in any instance and, of several,
// the one of the lowest instance. This spreads sequences over the instances.
class SlotTable {
 public:
  SlotTable(uint32_t instances, uint32_t slots_per_instance)
      : slots_per_instance_(slots_per_instance), places_(instances) {}

  // A slot of one of the instances for which `gives` is true. None: all of theirs are taken. If
  // this throws, no slot is taken.
  std::optional<SlotLease> Take(absl::FunctionRef<bool(uint32_t instance)> gives);
  // Ends a lease. False, and nothing changes, if it has ended before. Takes no memory.
  bool Free(const SlotLease& lease);
  bool Holds(const SlotLease& lease) const;

  size_t in_use() const { return in_use_; }
  uint64_t capacity() const { return places_.size() * uint64_t{slots_per_instance_}; }

 private:
  // The slots of one instance.
  struct Place {
    // The lowest free slot; as many as there are slots: all are taken.
    uint32_t LowestFree() const;
    // Returns the slot's new generation. REQUIRES: `slot` is the lowest free one.
    uint64_t Take(uint32_t slot);

    // For each slot that was ever taken. Odd: taken. Each Take and Free increments it.
    std::vector<uint64_t> generations;
    // The free slots among those in `generations`. All slots beyond are free, too.
    std::vector<uint32_t> free;  // a heap, the lowest first
  };

  const uint32_t slots_per_instance_;
  std::vector<Place> places_;  // by instance
  size_t in_use_ = 0;
};

// The sequences that wait for a slot, first come first served, and their deadlines. Counts their
// requests.
class Backlog {
 public:
  // Adds a request of `sequence`. With its first request the sequence joins the end of the line.
  // `deadline`: that of the request, TimePoint::max() for none; the earliest of all requests
  // counts. If Add throws, nothing has changed.
  void Add(uint64_t sequence, TimePoint deadline);
  // Takes a sequence out with all its requests; false if it is not here.
  bool Remove(uint64_t sequence);
  // Takes out the sequence that has waited longest; none if no sequence waits.
  std::optional<uint64_t> PopFront();

  // When the first sequence expires; none if no sequence does.
  std::optional<TimePoint> earliest_deadline() const;
  // The sequence with the earliest deadline at or before `now`; none if there is no such sequence.
  std::optional<uint64_t> FirstExpired(TimePoint now) const;
  // The sequence that has waited longest; none if no sequence waits.
  std::optional<uint64_t> front() const;

  bool empty() const { return line_.empty(); }
  size_t sequences() const { return line_.size(); }
  size_t requests() const { return requests_; }

 private:
  struct Entry {
    uint64_t sequence;
    TimePoint deadline;
    size_t requests;
  };
  using Line = std::list<Entry>;

  void Erase(Line::iterator entry);

  Line line_;
  std::unordered_map<uint64_t, Line::iterator> entries_;
  std::set<std::pair<TimePoint, uint64_t>> deadlines_;  // of the sequences that have one
  size_t requests_ = 0;
};

// Tells which sequences have been without a request for too long. The scheduler ends them.
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

#endif  // NEREID_SCHEDULING_SEQUENCE_SEQUENCE_TABLES_H_
