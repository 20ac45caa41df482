// SPDX-License-Identifier: Apache-2.0
// FloodGuard: how many frames that cost the server work and the client nothing a connection may
// send: PING, SETTINGS, PRIORITY, RST_STREAM, CONTINUATION, empty DATA, and what makes the server
// reset a stream. A bucket that fills with time and with each answered request, so that clients
// that work are never near its end. It only decides. Thread-compatible; owned by a connection.
#ifndef NEREID_FRONTENDS_TRANSPORT_HTTP2_FLOOD_GUARD_H_
#define NEREID_FRONTENDS_TRANSPORT_HTTP2_FLOOD_GUARD_H_

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace nereid::http2 {

class FloodGuard {
 public:
  // `per_second` frames, and ten seconds' worth of them at once. 0: no limit.
  FloodGuard(double per_second, TimePoint now)
      : per_second_(per_second), left_(kBurstSeconds * per_second), filled_(now) {}

  // A request was answered completely.
  void RequestAnswered() { left_ = std::min(left_ + 1, kBurstSeconds * per_second_); }
  // False if the client has sent too many.
  bool Frame(TimePoint now) {
    if (per_second_ == 0) return true;
    const double seconds = std::chrono::duration<double>(now - filled_).count();
    filled_ = now;
    left_ = std::min(left_ + seconds * per_second_, kBurstSeconds * per_second_);
    left_ -= 1;
    return left_ >= 0;
  }

 private:
  static constexpr double kBurstSeconds = 10;

  const double per_second_;
  double left_;
  TimePoint filled_;
};

}  // namespace nereid::http2

#endif  // NEREID_FRONTENDS_TRANSPORT_HTTP2_FLOOD_GUARD_H_
