// SPDX-License-Identifier: Apache-2.0
// The composition of the gRPC frontend: listener, loops, connections, and which method a call is
// of.
#include "frontends/grpc/grpc_server.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "frontends/grpc/grpc_environment.h"
#include "frontends/grpc/method_table.h"
#include "frontends/transport/http2/connection.h"
#include "frontends/transport/io_loop.h"
#include "frontends/transport/port.h"
#include "frontends/transport/tls_context.h"

namespace nereid {
namespace {

// How long connections may take to end once all their calls are answered.
constexpr Duration kLinger = std::chrono::seconds(2);

using transport::IoLoop;

constexpr int kMaxLoops = 128;
// How slow clients are, and how old connections, is looked at this often.
constexpr Duration kSweepInterval = std::chrono::milliseconds(100);

// Tells the thread that stops the server that all calls are answered. Shared with the calls,
// because the last one may outlive that thread and the server. Thread-safe.
class AllAnswered {
 public:
  void Set() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    set_ = true;
    changed_.NotifyAll();
  }
  // Whether it was set until `deadline`.
  bool Wait(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    while (!set_ && std::chrono::steady_clock::now() < deadline) changed_.WaitUntil(&mu_, deadline);
    return set_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool set_ ABSL_GUARDED_BY(mu_) = false;
};

absl::Status CheckOptions(const GrpcServerOptions& options) {
  if (options.infer_threads < 1 || options.infer_threads > kMaxLoops) {
    return absl::InvalidArgumentError(
        "invalid argument for --grpc_infer_thread_count. Must be in the range 2 to 128.");
  }
  if (options.call_pool_size < 0) {
    return absl::InvalidArgumentError(
        "invalid argument for --grpc-infer-allocation-pool-size. Must not be negative.");
  }
  if (options.max_response_pool_size <= 0) {
    return absl::InvalidArgumentError(
        "Error: --grpc-max-response-pool-size must be greater than 0.");
  }
  if (options.http2.max_concurrent_streams <= 0) {
    return absl::InvalidArgumentError(
        "Error: --http2-max-concurrent-streams must be greater than 0.");
  }
  return absl::OkStatus();
}

http2::KeepaliveOptions ToKeepalive(const GrpcKeepaliveOptions& options) {
  const auto ms = [](int value) { return std::chrono::milliseconds(value); };
  http2::KeepaliveOptions keepalive;
  keepalive.time = ms(options.time_ms);
  keepalive.timeout = ms(options.timeout_ms);
  keepalive.permit_without_calls = options.permit_without_calls;
  keepalive.max_pings_without_data = options.http2_max_pings_without_data;
  keepalive.min_ping_interval = ms(options.http2_min_recv_ping_interval_without_data_ms);
  keepalive.max_ping_strikes = options.http2_max_ping_strikes;
  keepalive.max_age = ms(options.max_connection_age_ms);
  keepalive.max_age_grace = ms(options.max_connection_age_grace_ms);
  return keepalive;
}

void SetLimits(const GrpcServerOptions& options, Budget* bytes,
               http2::ConnectionSettings* settings) {
  const GrpcHttp2Options& http2 = options.http2;
  settings->keepalive = ToKeepalive(options.keepalive);
  settings->control_frames_per_second = http2.control_frames_per_second;
  settings->handshake_timeout = http2.handshake_timeout;
  settings->stall_timeout = http2.stall_timeout;
  settings->min_bytes_per_second = http2.min_bytes_per_second;
  int streams = http2.max_concurrent_streams;
  if (options.max_connection_requests > 0) {
    streams = std::min(streams, options.max_connection_requests);
  }
  settings->session.max_streams = static_cast<uint32_t>(streams);
  settings->session.kept_streams = static_cast<size_t>(options.call_pool_size);
  settings->session.budget = bytes;
}

// Without `tls`.
transport::PortOptions ToPort(const GrpcServerOptions& options) {
  transport::PortOptions port;
  port.listen.where = {"gRPC", options.address, options.port, options.reuse_port, ""};
  port.listen.bound = options.bound;
  port.loop.sweep_interval = kSweepInterval;
  port.loops = options.infer_threads;
  port.thread_name = "grpc";
  port.connections_name = "gRPC connections";
  port.max_connections = options.max_connections;
  port.connections_option = "--grpc-max-connections";
  port.room = options.connection_room;
  port.goes_last = true;
  return port;
}

}  // namespace

class GrpcServer::Impl {
 public:
  Impl(const GrpcServerOptions& options, Server* server, const GrpcExecutors& executors,
       SharedMemoryRegistry* shared_memory, std::shared_ptr<http2::RequestAcceptor> rest,
       Tracing* tracing)
      : environment_(
            std::make_shared<GrpcEnvironment>(server, options, executors, shared_memory, tracing)),
        methods_(environment_, std::move(rest)) {}
  ~Impl() { Stop(std::chrono::steady_clock::now()); }

  absl::Status Start(const GrpcServerOptions& options);
  void Announce() ABSL_LOCKS_EXCLUDED(mu_);
  void Stop(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

  uint16_t port() const { return port_->number(); }
  int64_t in_flight_calls() const { return environment_->calls.inside(); }
  const Budget& connections() const { return port_->connections(); }
  const http2::ConnectionSettings& settings() const { return *settings_; }

 private:
  // Refuses new inference and waits until all requests in flight are answered, or until the
  // deadline.
  void AwaitCalls(TimePoint deadline);

  const std::shared_ptr<GrpcEnvironment> environment_;
  MethodTable methods_;
  const std::shared_ptr<http2::ConnectionSettings> settings_ =
      std::make_shared<http2::ConnectionSettings>();
  std::unique_ptr<transport::Port> port_;

  Mutex mu_;
  bool running_ ABSL_GUARDED_BY(mu_) = false;
};

absl::Status GrpcServer::Impl::Start(const GrpcServerOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  SetLimits(options, environment_->server->in_flight_bytes(), settings_.get());
  settings_->acceptor = &methods_;
  transport::PortOptions port = ToPort(options);
  ASSIGN_OR_RETURN(port.tls, transport::TlsContext::ForPort(options.tls, {"h2"}));
  port_ = std::make_unique<transport::Port>(
      std::move(port), [settings = settings_](std::shared_ptr<IoLoop> loop,
                                              transport::Channel channel, BudgetUnits slot) {
        return std::make_shared<http2::Connection>(settings, std::move(loop), std::move(channel),
                                                   std::move(slot));
      });
  RETURN_IF_ERROR(port_->Open());
  MutexLock lock(&mu_);
  running_ = true;
  return absl::OkStatus();
}

void GrpcServer::Impl::Announce() {
  MutexLock lock(&mu_);
  if (running_) port_->Announce();
}

void GrpcServer::Impl::Stop(TimePoint deadline) {
  {
    MutexLock lock(&mu_);
    if (!std::exchange(running_, false)) return;
  }
  AwaitCalls(deadline);
  port_->Close();
  // Answers on their way get there; calls that are not answered by now are cancelled.
  port_->Stop(std::min(deadline, Clock::Real()->Now() + kLinger));
}

void GrpcServer::Impl::AwaitCalls(TimePoint deadline) {
  if (const int64_t left = environment_->calls.inside(); left > 0) {
    LOG_INFO << "gRPC: waiting for " << left << " inference calls in flight";
  }
  const auto all_answered = std::make_shared<AllAnswered>();
  environment_->calls.Close([all_answered] { all_answered->Set(); });
  if (!all_answered->Wait(deadline)) {
    LOG_WARNING << "gRPC: cancelling " << environment_->calls.inside()
                << " inference calls that are not finished in the time to stop";
  }
}

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(
    const GrpcServerOptions& options, Server* server, const GrpcExecutors& executors,
    SharedMemoryRegistry* shared_memory, std::shared_ptr<http2::RequestAcceptor> rest,
    Tracing* tracing) {
  auto impl =
      std::make_unique<Impl>(options, server, executors, shared_memory, std::move(rest), tracing);
  RETURN_IF_ERROR(impl->Start(options));
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GrpcServer::~GrpcServer() = default;

uint16_t GrpcServer::port() const { return impl_->port(); }
int64_t GrpcServer::in_flight_calls() const { return impl_->in_flight_calls(); }
uint64_t GrpcServer::connection_count() const { return impl_->connections().used(); }
uint64_t GrpcServer::connection_limit() const { return impl_->connections().limit(); }
uint64_t GrpcServer::slow_clients() const {
  return impl_->settings().slow_clients.load(std::memory_order_relaxed);
}
uint64_t GrpcServer::flooding_clients() const {
  return impl_->settings().abusive_clients.load(std::memory_order_relaxed);
}
void GrpcServer::Announce() { impl_->Announce(); }
void GrpcServer::Stop(TimePoint deadline) { impl_->Stop(deadline); }

}  // namespace nereid
