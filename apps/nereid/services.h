// SPDX-License-Identifier: Apache-2.0
// Services: the ports on which a server answers. Thread-compatible; used by the main thread.
#ifndef NEREID_APPS_NEREID_SERVICES_H_
#define NEREID_APPS_NEREID_SERVICES_H_

#include <absl/status/status.h>

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/threads/thread_pool.h"
#include "cloud_ports.h"
#include "console_port.h"
#include "frontends/access/api_keys.h"
#include "frontends/grpc/grpc_server.h"
#include "frontends/http/cors.h"
#include "frontends/http/http_frontend.h"
#include "frontends/http/http_server.h"
#include "frontends/http/metrics_endpoint.h"
#include "frontends/shared_memory/shared_memory_registry.h"
#include "frontends/tracing/tracing.h"
#include "observe/access/access_log.h"
#include "observe/metrics/gauges.h"
#include "owner_socket.h"
#include "server/server.h"
#include "settings.h"

namespace nereid {

class Services {
 public:
  // `server` must outlive the services.
  explicit Services(Server* server) : server_(server), gauges_(server->gauges()) {}
  ~Services();

  // Opens the ports that `settings` ask for and logs their addresses. An error names the port that
  // could not be opened; the destructor closes those opened before it.
  absl::Status Start(const Settings& settings);
  // The number of an open port; 0: it is not open.
  uint16_t http_port() const { return http_ == nullptr ? 0 : http_->port(); }
  uint16_t grpc_port() const { return grpc_ == nullptr ? 0 : grpc_->port(); }
  uint16_t metrics_port() const { return metrics_ == nullptr ? 0 : metrics_->port(); }
  uint16_t tfs_http_port() const { return tfs_http_ == nullptr ? 0 : tfs_http_->port(); }
  uint16_t tfs_grpc_port() const { return tfs_grpc_ == nullptr ? 0 : tfs_grpc_->port(); }
  uint16_t console_port() const { return console_ == nullptr ? 0 : console_->port(); }
  // Opens the access log again by its name. Any thread, after Start.
  void ReopenAccessLog();
  // The server is about to end: tells the clients of HTTP/2 to use other connections. Does not
  // block.
  void Announce();
  // Closes the ports of HTTP and gRPC: refuses new connections and requests, lets those in flight
  // finish until `deadline`. The metrics page stays up, because people look at it during a
  // shutdown.
  void ClosePorts(TimePoint deadline);
  // Closes the metrics port as well, and ends administration and compression. False if one of
  // these two hangs: then the process has to end without destroying anything.
  [[nodiscard]] bool EndRest();

  // Whether requests can be traced.
  bool traces() const { return tracing_ != nullptr && tracing_->can_trace(); }
  // Ends tracing: writes or sends what was traced. False if that takes beyond `deadline`.
  [[nodiscard]] bool EndTracing(TimePoint deadline);

 private:
  absl::Status OpenAccessLog(const AccessLog::Options& options);
  void StartExecutors();
  absl::Status LoadApiKeys(const std::string& path);
  absl::Status StartTracing(const TraceOptions& options);
  HttpExecutors executors() const { return {admin_.get(), compression_.get(), access_log_.get()}; }
  // Which pages of browsers may use the ports of HTTP.
  static CorsPolicy Cors(const Settings& settings);
  // What serves REST is told on all ports.
  HttpFrontendOptions FrontendOptions(const Settings& settings) const;
  void SetHttpOptions(const Settings& settings);
  // What both ports of gRPC have.
  GrpcServerOptions GrpcOptions(const Settings& settings) const;
  GrpcExecutors grpc_executors() const {
    return {admin_.get(), compression_.get(), access_log_.get()};
  }
  absl::Status StartGrpc(const Settings& settings);
  void AddGrpcGauges();
  absl::Status StartHttp(const Settings& settings);
  void AddHttpGauges();
  absl::Status StartTfsHttp(const Settings& settings);
  absl::Status StartTfsGrpc(const Settings& settings);
  absl::Status StartCloudPorts(const Settings& settings);
  absl::Status StartConsole(const Settings& settings);
  void StartOwnerSocket(const Settings& settings);
  absl::Status StartMetrics(const Settings& settings);

  Server* const server_;
  std::unique_ptr<AccessLog> access_log_;  // null: there is none
  std::unique_ptr<SharedMemoryRegistry> shared_memory_;
  std::unique_ptr<ApiKeys> api_keys_;  // null: none are needed
  std::unique_ptr<Tracing> tracing_;
  // They run what would take the I/O threads too long: administration and compression. The two are
  // separate, so that many large bodies do not delay a probe. Ended by EndRest, when all ports are
  // closed and before the server is destroyed.
  std::unique_ptr<ThreadPool> admin_;
  std::unique_ptr<ThreadPool> compression_;
  std::shared_ptr<transport::ConnectionRoom> connection_room_;
  std::unique_ptr<HttpFrontend> http_frontend_;  // null: without REST
  std::unique_ptr<HttpFrontend> tfs_frontend_;   // null: without TensorFlow Serving's API
  HttpServerOptions http_options_;               // of the HTTP port; others have the same limits
  std::unique_ptr<GrpcServer> grpc_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<HttpServer> tfs_http_;
  std::unique_ptr<GrpcServer> tfs_grpc_;
  std::unique_ptr<CloudPorts> cloud_ports_;    // null: none
  std::unique_ptr<ConsolePort> console_;       // null: none
  std::unique_ptr<OwnerSocket> owner_socket_;  // null: none
  std::unique_ptr<MetricsEndpoint> metrics_endpoint_;
  std::unique_ptr<HttpServer> metrics_;
  GaugeGroup gauges_;  // read what is above
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_SERVICES_H_
