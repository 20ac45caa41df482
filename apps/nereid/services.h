// Services: the ports on which a server answers. Thread-compatible; used by the main thread.
#ifndef NEREID_APPS_NEREID_SERVICES_H_
#define NEREID_APPS_NEREID_SERVICES_H_

#include <absl/status/status.h>

#include <memory>

#include "base/clock.h"
#include "base/spare_executor.h"
#include "frontends/grpc/grpc_server.h"
#include "frontends/http/http_frontend.h"
#include "frontends/http/http_server.h"
#include "frontends/http/metrics_endpoint.h"
#include "server/server.h"
#include "settings.h"

namespace nereid {

class Services {
 public:
  // `server` must outlive the services.
  explicit Services(Server* server) : server_(server) {}
  ~Services();

  // Opens the ports that `settings` ask for and logs their addresses. An error names the port that
  // could not be opened; the destructor closes those opened before it.
  absl::Status Start(const Settings& settings);
  // Closes the ports of HTTP and gRPC: refuses new connections and requests, lets those in flight
  // finish until `deadline`. The metrics page stays up: this is when people look at it.
  void ClosePorts(TimePoint deadline);
  // Closes the metrics port as well, and ends administration and compression. False if something of
  // that hangs: the process has to end then, and nothing may be destroyed.
  [[nodiscard]] bool EndRest();

 private:
  absl::Status StartGrpc(const Settings& settings);
  absl::Status StartHttp(const Settings& settings);
  absl::Status StartMetrics(const Settings& settings);

  Server* const server_;
  // Run what I/O threads have no time for: administration, and, apart from it so that a flood of
  // large bodies holds up no probe, compression. Ended by EndRest, when all ports are closed and
  // before the server goes.
  std::unique_ptr<SpareExecutor> admin_;
  std::unique_ptr<SpareExecutor> compression_;
  std::unique_ptr<GrpcServer> grpc_;
  std::unique_ptr<HttpFrontend> http_frontend_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<MetricsEndpoint> metrics_endpoint_;
  std::unique_ptr<HttpServer> metrics_;
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_SERVICES_H_
