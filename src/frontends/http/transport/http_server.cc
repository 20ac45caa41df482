// The composition of the transport: listener, loops, connections.
#include "frontends/http/http_server.h"

#include <absl/strings/str_cat.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "frontends/http/transport/io_loop.h"
#include "frontends/http/transport/listener.h"

namespace nereid {
namespace http {
namespace {

class AsioHttpServer final : public HttpServer {
 public:
  AsioHttpServer(const HttpServerOptions& options, HttpHandler* handler)
      : connections_("http connections", options.max_connections, "--http-max-connections") {
    for (int i = 0; i < options.thread_count; ++i) {
      loops_.push_back(std::make_shared<IoLoop>(options, handler));
    }
    listener_ = std::make_unique<Listener>(loops_, &connections_);
  }

  ~AsioHttpServer() override { Stop(TimePoint::min()); }

  absl::Status Listen(const HttpServerOptions& options) {
    RETURN_IF_ERROR(listener_->Open(options));
    for (size_t i = 0; i < loops_.size(); ++i) loops_[i]->Start(absl::StrCat("http-", i));
    listener_->Start();
    running_ = true;
    return absl::OkStatus();
  }

  uint16_t port() const override { return listener_->port(); }
  uint64_t connection_count() const override { return connections_.used(); }
  uint64_t slow_clients() const override {
    uint64_t sum = 0;
    for (const auto& loop : loops_) sum += loop->slow_clients();
    return sum;
  }

  void Stop(TimePoint deadline) override {
    if (!std::exchange(running_, false)) return;
    listener_->Stop();
    for (const auto& loop : loops_) loop->Drain();
    for (const auto& loop : loops_) loop->WaitEmpty(deadline);
    for (const auto& loop : loops_) loop->Join();
  }

 private:
  Budget connections_;
  std::vector<std::shared_ptr<IoLoop>> loops_;
  std::unique_ptr<Listener> listener_;
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
  RETURN_IF_ERROR(server->Listen(options));
  return server;
}

}  // namespace nereid
