// Backlog: the sequences that wait for a slot, first come first served, and their deadlines. Knows
// sequences by number and counts their requests. No lock, no clock. Thread-compatible; owned by a
// scheduler.
#ifndef NEREID_SCHEDULING_SEQUENCE_BACKLOG_H_
#define NEREID_SCHEDULING_SEQUENCE_BACKLOG_H_

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
  std::unordered_map<uint64_t, Line::iterator> places_;
  std::set<std::pair<TimePoint, uint64_t>> deadlines_;  // of the sequences that have one
  size_t requests_ = 0;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SEQUENCE_BACKLOG_H_
