// SPDX-License-Identifier: Apache-2.0
// Keepalive: when an HTTP/2 connection of a gRPC server is asked whether its client is there, when
// it is old enough to end, and when a client asks too often (gRPC's documents on keepalive and
// connection management). It only decides. Thread-compatible; owned by a connection.
#ifndef NEREID_FRONTENDS_TRANSPORT_HTTP2_KEEPALIVE_H_
#define NEREID_FRONTENDS_TRANSPORT_HTTP2_KEEPALIVE_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace nereid::http2 {

struct KeepaliveOptions {
  Duration time = std::chrono::hours(2);        // without anything received until a PING is sent
  Duration timeout = std::chrono::seconds(20);  // for the answer; then the connection is closed
  bool permit_without_calls = false;            // also ask, and be asked, without open requests
  int max_pings_without_data = 2;               // sent in a row; 0: any number
  Duration min_ping_interval = std::chrono::minutes(5);  // of the client, between two answers' data
  int max_ping_strikes = 2;                              // PINGs that came too early; 0: any number
  Duration max_age{0};                                   // 0: no limit
  Duration max_age_grace{0};                             // 0: no limit
};

class Keepalive {
 public:
  enum class Action {
    kNone,
    kPing,      // send a PING
    kAnnounce,  // the connection is old: tell the client to use another one
    kClose,     // the client is gone, or the grace of an old connection is over
  };

  // `age_factor` spreads the ends of connections that began together: 0.9 to 1.1.
  Keepalive(const KeepaliveOptions& options, TimePoint now, double age_factor)
      : options_(options), begun_(now), received_(now) {
    if (options.max_age > Duration(0)) {
      max_age_ = std::chrono::duration_cast<Duration>(options.max_age * age_factor);
    }
  }

  // Something was received; PINGs of our own are answered by anything.
  void Received(TimePoint now) {
    received_ = now;
    asked_ = false;
  }
  // Part of an answer was sent: the client may ask again, and so may we.
  void AnswerSent() {
    strikes_ = 0;
    last_ping_ = TimePoint::min();
    pings_without_data_ = 0;
  }
  // The client has sent a PING. False if it asks too often.
  bool OnPing(TimePoint now, bool has_requests) {
    if (options_.max_ping_strikes == 0) return true;
    // Without requests a client has little reason to ask, unless it is permitted.
    const Duration interval = has_requests || options_.permit_without_calls
                                  ? options_.min_ping_interval
                                  : std::max<Duration>(options_.min_ping_interval, kIdleInterval);
    const bool early = last_ping_ != TimePoint::min() && now < last_ping_ + interval;
    last_ping_ = now;
    return !early || ++strikes_ <= options_.max_ping_strikes;
  }

  // What is due now.
  Action Check(TimePoint now, bool has_requests) {
    if (announced_) {
      const bool over =
          options_.max_age_grace > Duration(0) && now >= announced_at_ + options_.max_age_grace;
      if (over) return Action::kClose;
    } else if (max_age_ > Duration(0) && now >= begun_ + max_age_) {
      announced_ = true;
      announced_at_ = now;
      return Action::kAnnounce;
    }
    if (asked_) return now >= asked_at_ + options_.timeout ? Action::kClose : Action::kNone;
    if (now < received_ + options_.time) return Action::kNone;
    if (!has_requests && !options_.permit_without_calls) return Action::kNone;
    const int limit = options_.max_pings_without_data;
    if (limit > 0 && pings_without_data_ >= limit) return Action::kNone;
    ++pings_without_data_;
    asked_ = true;
    asked_at_ = now;
    return Action::kPing;
  }

 private:
  static constexpr Duration kIdleInterval = std::chrono::hours(2);

  const KeepaliveOptions options_;
  const TimePoint begun_;
  Duration max_age_{0};
  TimePoint received_;
  bool asked_ = false;
  TimePoint asked_at_;
  int pings_without_data_ = 0;
  TimePoint last_ping_ = TimePoint::min();
  int strikes_ = 0;
  bool announced_ = false;
  TimePoint announced_at_;
};

}  // namespace nereid::http2

#endif  // NEREID_FRONTENDS_TRANSPORT_HTTP2_KEEPALIVE_H_
