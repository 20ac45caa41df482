// SPDX-License-Identifier: Apache-2.0
// HttpServer: a server of HTTP/1.1 and HTTP/2 that hands whole requests to one handler. The only
// interface of the transport folder, which does not show the types of the HTTP library.
//
// Keeps connections alive, answers pipelined requests in order (one at a time per connection of
// HTTP/1.1), accepts bodies of known and of unknown length, and notices when a client leaves while
// its request runs. Clients choose HTTP/2 in the TLS handshake or by what they send first.
// Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_SERVER_H_
#define NEREID_FRONTENDS_HTTP_HTTP_SERVER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "frontends/http/http_message.h"
#include "frontends/http/http_server_options.h"
#include "frontends/transport/http2/request_acceptor.h"

namespace nereid {

// What a handler says of a request whose head is there.
struct HeadVerdict {
  // False: the body is of no use, because the request is going to be refused or only reads. Handle
  // then gets the request without it.
  bool takes_body = true;
  BodyLimit limit;  // of the body, within those of the port
};

// Thread-safe.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Looks at a head before a byte of the body is taken and before the client hears "100 Continue",
  // so that nobody can make the server hold, or wait for, a body that nobody wants. Decides
  // whatever the head alone decides: path, method, access, size. Runs on an I/O thread, may leave
  // in
  // `*request` what it has found out, and is followed by Handle unless the client leaves or the
  // body is refused.
  virtual HeadVerdict OnHead(HttpRequest* request) = 0;
  // Runs on an I/O thread and must not block. Handle HEAD requests as GET: the transport omits the
  // body.
  virtual void Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) = 0;
};

class HttpServer {
 public:
  // Listens and starts the threads. `handler` must outlive the server. UNAVAILABLE if the address
  // is taken, INVALID_ARGUMENT if it cannot be parsed, errors of TlsContext for files that cannot
  // be used, INTERNAL otherwise.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(HttpServerOptions options,
                                                           HttpHandler* handler);
  // Stops at once, as Stop with a deadline in the past.
  virtual ~HttpServer() = default;

  // The port on which the server listens.
  virtual uint16_t port() const = 0;
  virtual uint64_t connection_count() const = 0;
  // Number of clients dropped because they sent or read too slowly.
  virtual uint64_t slow_clients() const = 0;
  // Connections of HTTP/2 that were ended because the client flooded the server.
  virtual uint64_t flooding_clients() const = 0;

  // Tells the clients of present HTTP/2 connections to use others (GOAWAY); what they have begun
  // goes on, and the port stays open. Does not block. REQUIRES: not stopped.
  virtual void Announce() = 0;

  // Refuses new connections, closes idle ones, lets requests in flight finish until `deadline`
  // (of the options' clock), cancels the others and joins the threads. Blocks; a second call
  // does nothing. REQUIRES: not called on an I/O thread.
  virtual void Stop(TimePoint deadline) = 0;
};

// What serves `handler` to the HTTP/2 clients of another frontend's port, by the limits of
// `options`. `handler` must outlive that port.
std::shared_ptr<http2::RequestAcceptor> MakeHttp2Acceptor(const HttpServerOptions& options,
                                                          HttpHandler* handler);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_SERVER_H_
