// HttpServer: an HTTP/1.1 server that hands whole requests to one handler. The only interface of
// the transport folder, and free of the types of the library behind it.
//
// Keeps connections alive, answers pipelined requests in order (one at a time per connection),
// accepts bodies by Content-Length and chunked, and notices a client that goes away while its
// request runs. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_SERVER_H_
#define NEREID_FRONTENDS_HTTP_HTTP_SERVER_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "base/budget.h"
#include "base/clock.h"
#include "frontends/http/http_message.h"

namespace nereid {

struct HttpServerOptions {
  std::string address = "0.0.0.0";  // an address or a host name
  uint16_t port = 0;                // 0: any free one, see HttpServer::port()
  bool reuse_port = false;          // let other processes listen on the same port too
  int thread_count = 1;             // I/O threads, each with its own event loop

  uint64_t max_connections = 10'000;    // beyond: 503 and closed; 0 = unlimited
  size_t max_header_bytes = 64 * 1024;  // request line and headers; beyond: 431
  uint64_t max_body_bytes = std::numeric_limits<int32_t>::max();  // beyond: 413
  size_t max_chunks = 65536;  // non-empty chunks of a chunked body; beyond: 400

  Duration header_timeout = std::chrono::seconds(60);  // first byte to end of header; then 408
  Duration stall_timeout = std::chrono::seconds(60);   // body or response makes no progress
  // A body that comes in, or a response that goes out, more slowly after a first stall_timeout is
  // given up. While nothing is to be sent or received no rate counts. 0: none.
  uint64_t min_bytes_per_second = 1024;
  Duration idle_timeout = std::chrono::minutes(10);  // kept-alive connection without a request

  // Bytes of request bodies held at a time over all connections; taken in steps, just before bytes
  // are received. Not owned; must outlive every HttpBody. Null: unlimited.
  Budget* body_budget = nullptr;
  // What is taken besides for a request with a body: the memory that it costs in all.
  uint64_t request_cost = 0;
  // Name of the header whose number says which byte of the body shall lie on a 64-byte boundary.
  // Empty: the first.
  std::string body_split_header;

  Clock* clock = Clock::Real();
};

// Thread-safe.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Runs on an I/O thread and must not block. HEAD requests are to be handled as GET: the
  // transport leaves the body out.
  virtual void Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) = 0;
};

class HttpServer {
 public:
  // Listens and starts the threads. `handler` must outlive the server. UNAVAILABLE when the
  // address is taken, INVALID_ARGUMENT when it cannot be understood, INTERNAL otherwise.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(HttpServerOptions options,
                                                           HttpHandler* handler);
  // Stops at once, as Stop with a deadline in the past.
  virtual ~HttpServer() = default;

  // The port that is listened on.
  virtual uint16_t port() const = 0;
  virtual uint64_t connection_count() const = 0;
  // Clients that were given up because they sent or read too slowly.
  virtual uint64_t slow_clients() const = 0;

  // Refuses new connections, closes idle ones, lets requests in flight finish until `deadline`
  // (of the options' clock), cancels the others and joins the threads. Blocks; a second call
  // does nothing. REQUIRES: not called on an I/O thread.
  virtual void Stop(TimePoint deadline) = 0;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_SERVER_H_
