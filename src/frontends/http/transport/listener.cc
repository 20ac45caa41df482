#include "frontends/http/transport/listener.h"

#include <absl/strings/str_cat.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/detail/socket_option.hpp>
#include <boost/asio/error.hpp>
#include <future>
#include <string>
#include <utility>

#include "base/log.h"

namespace nereid::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

// How long new connections wait after an accept failed for lack of descriptors, or for another
// reason that does not go away with the connection.
constexpr std::chrono::milliseconds kAcceptRetry(50);

// Errors of a single connection that has gone already: the next one is accepted at once.
bool IsOfOneConnection(const boost::system::error_code& error) {
  return error == asio::error::connection_aborted || error == asio::error::connection_reset ||
         error == boost::system::errc::protocol_error;
}

absl::StatusOr<tcp::endpoint> Resolve(asio::io_context& context, const std::string& address,
                                      uint16_t port) {
  boost::system::error_code error;
  const auto ip = asio::ip::make_address(address, error);
  if (!error) return tcp::endpoint(ip, port);
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(address, std::to_string(port), error);
  if (error || found.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot resolve the HTTP address '", address, "': ", error.message()));
  }
  return found.begin()->endpoint();
}

}  // namespace

Listener::Listener(std::vector<std::shared_ptr<IoLoop>> loops, Budget* connections)
    : loops_(std::move(loops)),
      connections_(connections),
      acceptor_(loops_.front()->context()),
      retry_timer_(loops_.front()->context()) {}

absl::Status Listener::Open(const HttpServerOptions& options) {
  auto endpoint = Resolve(loops_.front()->context(), options.address, options.port);
  if (!endpoint.ok()) return endpoint.status();
  boost::system::error_code error;
  acceptor_.open(endpoint->protocol(), error);
  if (!error) acceptor_.set_option(Acceptor::reuse_address(true), error);
  if (!error && options.reuse_port) acceptor_.set_option(ReusePort(true), error);
  if (!error) acceptor_.bind(*endpoint, error);
  if (!error) acceptor_.listen(Acceptor::max_listen_connections, error);
  if (error == asio::error::address_in_use) {
    return absl::UnavailableError(
        absl::StrCat("Socket '", options.address, ":", options.port, "' already in use "));
  }
  if (error) {
    return absl::InternalError(absl::StrCat("cannot listen on '", options.address, ":",
                                            options.port, "': ", error.message()));
  }
  port_ = acceptor_.local_endpoint(error).port();
  return absl::OkStatus();
}

void Listener::Start() {
  loops_.front()->Post([this] { Accept(); });
}

void Listener::Accept() {
  if (!acceptor_.is_open()) return;
  IoLoop* loop = loops_[next_loop_++ % loops_.size()].get();
  acceptor_.async_accept(loop->context().get_executor(),
                         [this, loop](const boost::system::error_code& error, Socket socket) {
                           OnAccept(error, std::move(socket), loop);
                         });
}

void Listener::OnAccept(const boost::system::error_code& error, Socket socket, IoLoop* loop) {
  if (!acceptor_.is_open()) return;
  if (error && !IsOfOneConnection(error)) {
    LOG_WARNING << "cannot accept an HTTP connection: " << error.message();
    retry_timer_.expires_after(kAcceptRetry);
    retry_timer_.async_wait([this](const boost::system::error_code& cancelled) {
      if (!cancelled) Accept();
    });
    return;
  }
  if (!error) {
    auto slot = connections_->Take(1);
    if (slot.ok()) {
      loop->Adopt(std::move(socket), *std::move(slot));
    } else {
      Refuse(std::move(socket), slot.status());
    }
  }
  Accept();
}

// Sends the reason, as far as possible without waiting for the client, and closes.
void Listener::Refuse(Socket socket, const absl::Status& reason) {
  const std::string body = MakeErrorResponse(503, reason.message()).text;
  const std::string answer =
      absl::StrCat("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n",
                   "Content-Length: ", body.size(), "\r\nConnection: close\r\n\r\n", body);
  boost::system::error_code ignored;
  socket.non_blocking(true, ignored);
  // Bytes left unread would make the close reset the connection and destroy the answer.
  char unread[4096];
  socket.read_some(asio::buffer(unread), ignored);
  socket.write_some(asio::buffer(answer), ignored);
  socket.shutdown(Socket::shutdown_send, ignored);
}

void Listener::Stop() {
  std::promise<void> closed;
  loops_.front()->Post([this, &closed] {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    retry_timer_.cancel();
    closed.set_value();
  });
  closed.get_future().wait();
}

}  // namespace nereid::http
