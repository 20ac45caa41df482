// Listener: accepts connections and distributes them to the loops in turn, which spreads few
// long-lived connections more evenly than letting the kernel choose among several sockets. Lives on
// the first loop's thread; Open and Stop are called from outside.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_LISTENER_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_LISTENER_H_

#include <absl/status/status.h>

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <vector>

#include "base/budget.h"
#include "frontends/http/transport/io_loop.h"
#include "frontends/http/transport/socket.h"

namespace nereid::http {

class Listener {
 public:
  // `loops` is not empty. `connections` limits and counts the connections and must outlive the
  // loops.
  Listener(std::vector<std::shared_ptr<IoLoop>> loops, Budget* connections);

  // Binds and listens. Errors as HttpServer::Start. REQUIRES: the loops do not run yet.
  absl::Status Open(const HttpServerOptions& options);
  // Begins to accept. REQUIRES: Open succeeded.
  void Start();
  // Closes the listening socket and returns once no further connection will be passed on. REQUIRES:
  // not called on an I/O thread; the loops run.
  void Stop();

  uint16_t port() const { return port_; }

 private:
  void Accept();
  void OnAccept(const boost::system::error_code& error, Socket socket, IoLoop* loop);
  void Refuse(Socket socket, const absl::Status& reason);

  const std::vector<std::shared_ptr<IoLoop>> loops_;
  Budget* const connections_;
  Acceptor acceptor_;
  boost::asio::steady_timer retry_timer_;
  size_t next_loop_ = 0;
  uint16_t port_ = 0;
};

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_LISTENER_H_
