// SPDX-License-Identifier: Apache-2.0
// The composition of the transport: listener, loops, connections.
#include "frontends/http/http_server.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "frontends/http/transport/connection.h"
#include "frontends/http/transport/http2_exchange.h"
#include "frontends/transport/http2/connection.h"
#include "frontends/transport/io_loop.h"
#include "frontends/transport/port.h"
#include "frontends/transport/tls_context.h"

namespace nereid {
namespace http {
namespace {

// What a client hears if there are too many connections.
std::string RefusalText(const absl::Status& reason) {
  const std::string body = MakeErrorResponse(503, reason.message()).text;
  return absl::StrCat("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n",
                      "Content-Length: ", body.size(), "\r\nConnection: close\r\n\r\n", body);
}

// Without `tls`.
transport::PortOptions ToPort(const HttpServerOptions& options) {
  transport::PortOptions port;
  port.listen.where = {"HTTP", options.address, options.port, options.reuse_port, ""};
  port.listen.bound = options.bound;
  port.listen.refusal = &RefusalText;
  port.loop.clock = options.clock;
  port.loop.sweep_interval = transport::IoLoopOptions::SweepInterval(
      std::min({options.header_timeout, options.stall_timeout, options.idle_timeout}));
  port.loops = options.thread_count;
  port.thread_name = "http";
  port.connections_name = "http connections";
  port.max_connections = options.max_connections;
  port.connections_option = "--http-max-connections";
  port.room = options.connection_room;
  port.counts = !options.may_use_reserve;
  return port;
}

std::shared_ptr<http2::ConnectionSettings> MakeHttp2(const HttpServerOptions& options,
                                                     http2::RequestAcceptor* acceptor) {
  auto settings = std::make_shared<http2::ConnectionSettings>();
  settings->session.max_streams = options.http2_streams;
  settings->session.max_header_bytes = static_cast<uint32_t>(options.max_header_bytes);
  settings->session.budget = options.body_budget;
  // How often clients may ask is a matter of gRPC; here the limit of control frames is enough.
  settings->keepalive.max_ping_strikes = 0;
  settings->control_frames_per_second = options.http2_control_frames_per_second;
  settings->handshake_timeout = options.header_timeout;
  settings->stall_timeout = options.stall_timeout;
  settings->min_bytes_per_second = options.min_bytes_per_second;
  settings->idle_timeout = options.idle_timeout;
  settings->acceptor = acceptor;
  return settings;
}

class AsioHttpServer final : public HttpServer {
 public:
  AsioHttpServer(const HttpServerOptions& options, HttpHandler* handler)
      : acceptor_(options, handler),
        settings_(std::make_shared<ConnectionSettings>(options, handler)),
        http2_(MakeHttp2(options, &acceptor_)) {
    if (options.http2) settings_->http2 = http2_;
  }

  ~AsioHttpServer() override { Stop(TimePoint::min()); }

  absl::Status Listen() {
    const HttpServerOptions& options = settings_->options;
    transport::PortOptions port = ToPort(options);
    std::vector<std::string> protocols = {"http/1.1"};
    if (options.http2) protocols.insert(protocols.begin(), "h2");
    ASSIGN_OR_RETURN(port.tls, transport::TlsContext::ForPort(options.tls, protocols));
    port_ = std::make_unique<transport::Port>(
        std::move(port),
        [settings = settings_](std::shared_ptr<IoLoop> loop, Channel channel, BudgetUnits slot) {
          return std::make_shared<Connection>(settings, std::move(loop), std::move(channel),
                                              std::move(slot));
        });
    RETURN_IF_ERROR(port_->Open());
    running_ = true;
    return absl::OkStatus();
  }

  uint16_t port() const override { return port_->number(); }
  uint64_t connection_count() const override { return port_->connections().used(); }
  uint64_t slow_clients() const override {
    return settings_->slow_clients.load(std::memory_order_relaxed) +
           http2_->slow_clients.load(std::memory_order_relaxed);
  }
  uint64_t flooding_clients() const override {
    return http2_->abusive_clients.load(std::memory_order_relaxed);
  }

  void Announce() override { port_->Announce(); }

  void Stop(TimePoint deadline) override {
    if (!std::exchange(running_, false)) return;
    port_->Close();
    port_->Stop(deadline);
  }

 private:
  Http2Acceptor acceptor_;
  const std::shared_ptr<ConnectionSettings> settings_;
  const std::shared_ptr<http2::ConnectionSettings> http2_;
  std::unique_ptr<transport::Port> port_;
  bool running_ = false;
};

}  // namespace
}  // namespace http

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(HttpServerOptions options,
                                                              HttpHandler* handler) {
  if (options.thread_count < 1) {
    return absl::InvalidArgumentError("the HTTP server needs at least one thread");
  }
  auto server = std::make_unique<http::AsioHttpServer>(options, handler);
  RETURN_IF_ERROR(server->Listen());
  return server;
}

}  // namespace nereid
