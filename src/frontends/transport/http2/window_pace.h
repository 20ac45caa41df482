// SPDX-License-Identifier: Apache-2.0
// WindowPace: how long a client may leave the rest of an answer waiting by not opening a window of
// HTTP/2's flow control. As transport::Pace, whose two rules it applies to the window that is
// closed: that of the stream, where bytes of the stream have to move, or that of the connection,
// where bytes of any stream have to. It only decides. Thread-compatible; owned by a request.
#ifndef NEREID_FRONTENDS_TRANSPORT_HTTP2_WINDOW_PACE_H_
#define NEREID_FRONTENDS_TRANSPORT_HTTP2_WINDOW_PACE_H_

#include <cstdint>

#include "base/clock.h"
#include "frontends/transport/pace.h"

namespace nereid::http2 {

// Which windows hold an answer up.
struct WindowState {
  bool stream = false;
  bool connection = false;
  uint64_t stream_bytes = 0;      // of the answer that have gone out
  uint64_t connection_bytes = 0;  // of all answers of the connection
};

class WindowPace {
 public:
  // See Pace.
  WindowPace(Duration stall, uint64_t min_rate)
      : stream_(stall, min_rate), connection_(stall, min_rate) {}

  // False if the client has to be given up. Called now and then.
  bool Check(TimePoint now, const WindowState& state) {
    if (!state.stream && !state.connection) {
      stream_.End();
      connection_.End();
      return true;
    }
    // A pace goes on while only the other window is closed: who closes them in turn gains nothing.
    return (!state.stream || Keep(&stream_, now, state.stream_bytes)) &&
           (!state.connection || Keep(&connection_, now, state.connection_bytes));
  }

  // Whether a closed window has let nothing pass for `time`, as of the last Check.
  bool StalledFor(TimePoint now, Duration time) const {
    return stream_.StalledFor(now, time) || connection_.StalledFor(now, time);
  }

 private:
  static bool Keep(transport::Pace* pace, TimePoint now, uint64_t bytes) {
    if (!pace->under_way()) pace->Begin(now, bytes);
    pace->Moved(now, bytes);
    return now < pace->deadline();
  }

  transport::Pace stream_;
  transport::Pace connection_;
};

}  // namespace nereid::http2

#endif  // NEREID_FRONTENDS_TRANSPORT_HTTP2_WINDOW_PACE_H_
