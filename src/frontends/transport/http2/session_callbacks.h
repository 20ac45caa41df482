// SPDX-License-Identifier: Apache-2.0
// What nghttp2 calls of a session: frames and headers that have arrived, streams that are over, and
// data that it is ready to send.
#ifndef NEREID_FRONTENDS_TRANSPORT_HTTP2_SESSION_CALLBACKS_H_
#define NEREID_FRONTENDS_TRANSPORT_HTTP2_SESSION_CALLBACKS_H_

struct nghttp2_session_callbacks;

namespace nereid::http2 {

// The functions for a library session whose user data is the Session. Lives as long as the program.
nghttp2_session_callbacks* SessionCallbacks();

}  // namespace nereid::http2

#endif  // NEREID_FRONTENDS_TRANSPORT_HTTP2_SESSION_CALLBACKS_H_
