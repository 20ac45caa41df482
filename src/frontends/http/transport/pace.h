// Pace: how long a client may take to move bytes, a body that it sends or an answer that it reads.
// Two rules: something moves at least every `stall`, and all of it at no less than a rate, which
// counts after a first `stall`. Only bytes that move in the right direction are to be told.
// Decides only. Thread-compatible; owned by a connection.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_PACE_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_PACE_H_

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace nereid::http {

class Pace {
 public:
  // `min_rate` is bytes per second; 0: no rate.
  Pace(Duration stall, uint64_t min_rate) : stall_(stall), min_rate_(min_rate) {}

  bool under_way() const { return under_way_; }

  // Something is to be moved, `total` being what has moved before.
  void Begin(TimePoint now, uint64_t total) {
    under_way_ = true;
    first_ = last_ = total;
    begun_ = moved_ = now;
  }
  // `total` has moved by now; the same as before is no progress.
  void Moved(TimePoint now, uint64_t total) {
    if (total == last_) return;
    last_ = total;
    moved_ = now;
  }
  // Nothing is to be moved: whatever is waited for is not the client's fault.
  void End() { under_way_ = false; }

  // When the client is to be given up. REQUIRES: under_way()
  TimePoint deadline() const { return std::min(moved_ + stall_, RateDeadline()); }
  // Whether it is the rate that gives the client up.
  bool by_rate() const { return RateDeadline() < moved_ + stall_; }

 private:
  TimePoint RateDeadline() const {
    if (min_rate_ == 0) return TimePoint::max();
    const double seconds = static_cast<double>(last_ - first_) / static_cast<double>(min_rate_);
    // A year is as good as any longer time, and does not overflow.
    return begun_ + stall_ +
           std::chrono::duration_cast<Duration>(
               std::chrono::duration<double>(std::min(seconds, 365.0 * 86400)));
  }

  const Duration stall_;
  const uint64_t min_rate_;
  bool under_way_ = false;
  uint64_t first_ = 0;
  uint64_t last_ = 0;
  TimePoint begun_;
  TimePoint moved_;
};

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_PACE_H_
