// SPDX-License-Identifier: Apache-2.0
// HttpServerOptions: the settings of an HTTP server at its start. Plain values; their defaults are
// defined only here.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_SERVER_OPTIONS_H_
#define NEREID_FRONTENDS_HTTP_HTTP_SERVER_OPTIONS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "base/budget.h"
#include "base/clock.h"
#include "frontends/transport/tls_options.h"

namespace nereid {
namespace transport {
class BoundAddress;
class ConnectionRoom;
}  // namespace transport

struct HttpServerOptions {
  std::string address = "0.0.0.0";  // an address or a host name
  uint16_t port = 0;                // 0: any free one, see HttpServer::port()
  bool reuse_port = false;          // let other processes listen on the same port too
  // That address, taken already; null: the server takes it at its start.
  std::shared_ptr<transport::BoundAddress> bound;
  int thread_count = 1;  // I/O threads, each with its own event loop

  uint64_t max_connections = 10'000;  // beyond: 503 and closed; 0 = unlimited
  // Shared with other ports; null: nobody counts the descriptors.
  std::shared_ptr<transport::ConnectionRoom> connection_room;
  bool may_use_reserve = false;         // connections are accepted although that room is full
  size_t max_header_bytes = 64 * 1024;  // request line and headers; beyond: 431
  uint64_t max_body_bytes = std::numeric_limits<int64_t>::max();  // beyond: 413
  size_t max_chunks = 65536;  // non-empty chunks of a chunked body; beyond: 400

  // First byte to end of header; then 408. Also until the end of the TLS handshake, and until a
  // client of HTTP/2 has begun to speak.
  Duration header_timeout = std::chrono::seconds(60);
  Duration stall_timeout = std::chrono::seconds(60);  // body or response makes no progress
  // After a first stall_timeout, a request body or a response that moves more slowly than this is
  // abandoned. The rate does not apply while there is nothing to send or receive. 0: none.
  uint64_t min_bytes_per_second = 1024;
  Duration idle_timeout = std::chrono::minutes(10);  // kept-alive connection without a request

  // Bytes of request bodies held at a time over all connections; taken in steps, just before bytes
  // arrive. Not owned; must outlive every ReceivedBody. Null: unlimited.
  Budget* body_budget = nullptr;
  // Taken in addition for each request with a body: the other memory that it needs.
  uint64_t request_cost = 0;
  // Name of the header whose number says which byte of the body goes on a 64-byte boundary. Empty:
  // the first byte.
  std::string body_split_header;
  std::string body_split_prefix;  // what stands before the number

  transport::TlsOptions tls;

  bool http2 = true;              // besides HTTP/1.1
  uint32_t http2_streams = 4096;  // requests that a connection may have open; at least 1
  // Frames that cost the client nothing (http2::FloodGuard); 0: any number.
  int http2_control_frames_per_second = 200;

  // While this is true, requests tell when they came. Must outlive the server; null: never.
  const std::atomic<bool>* note_times = nullptr;

  Clock* clock = Clock::Real();

  bool notes_times() const {
    return note_times != nullptr && note_times->load(std::memory_order_relaxed);
  }
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_SERVER_OPTIONS_H_
