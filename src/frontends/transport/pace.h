// SPDX-License-Identifier: Apache-2.0
// Pace: how long a client may take to move bytes, whether a body that it sends or an answer that it
// reads. Two rules: some bytes move at least every `stall`, and the total moves no slower than a
// rate, which applies after a first `stall`. Report only bytes that move in the expected direction.
// It only decides. Thread-compatible; owned by a connection.
#ifndef NEREID_FRONTENDS_TRANSPORT_PACE_H_
#define NEREID_FRONTENDS_TRANSPORT_PACE_H_

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace nereid::transport {

// How long a server that ends waits for a client that takes nothing of an answer.
inline constexpr Duration kEndingStall = std::chrono::seconds(3);

class Pace {
 public:
  // `min_rate` is bytes per second; 0: no rate.
  Pace(Duration stall, uint64_t min_rate) : stall_(stall), min_rate_(min_rate) {}

  bool under_way() const { return under_way_; }

  // There are bytes to move; `total` has moved before.
  void Begin(TimePoint now, uint64_t total) {
    under_way_ = true;
    first_ = last_ = total;
    begun_ = moved_ = now;
  }
  // `total` has moved by now; an unchanged total is no progress.
  void Moved(TimePoint now, uint64_t total) {
    if (total == last_) return;
    last_ = total;
    moved_ = now;
  }
  // There are no bytes to move, so any delay is not the client's fault.
  void End() { under_way_ = false; }

  // Whether there are bytes to move, and none has moved for `time`.
  bool StalledFor(TimePoint now, Duration time) const { return under_way_ && now >= moved_ + time; }

  // The time when the client is to be dropped. REQUIRES: under_way()
  TimePoint deadline() const { return std::min(moved_ + stall_, RateDeadline()); }
  // Whether the rate is the reason for dropping the client.
  bool by_rate() const { return RateDeadline() < moved_ + stall_; }

 private:
  TimePoint RateDeadline() const {
    if (min_rate_ == 0) return TimePoint::max();
    const double seconds = static_cast<double>(last_ - first_) / static_cast<double>(min_rate_);
    // A year is as good as any longer time and does not overflow.
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

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_PACE_H_
