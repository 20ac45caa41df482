// SPDX-License-Identifier: Apache-2.0
// CloudPorts: the ports for cloud platforms. Thread-compatible; owned by Services.
#ifndef NEREID_APPS_NEREID_CLOUD_PORTS_H_
#define NEREID_APPS_NEREID_CLOUD_PORTS_H_

#include <absl/status/status.h>

#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/threads/thread_pool.h"
#include "cloud_settings.h"
#include "frontends/http/http_frontend.h"
#include "frontends/http/http_server.h"
#include "frontends/http/metrics_endpoint.h"
#include "server/server.h"

namespace nereid {

class CloudPorts {
 public:
  // All must outlive the ports; `admin` must end before they are destroyed. `options` are those of
  // the HTTP port, whose limits hold here, too.
  CloudPorts(Server* server, HttpFrontend* rest, ThreadPool* admin, HttpServerOptions options);

  // Each opens the port and logs its address.
  absl::Status StartSagemaker(const SagemakerSettings& settings);
  absl::Status StartVertexAi(const VertexAiSettings& settings);

  // As those of HttpServer, for all ports.
  void Announce();
  void Stop(TimePoint deadline);

 private:
  // Opens a port on which `handler` answers, and keeps both. `split` is the content type that gives
  // the length of a body's JSON; `name` is for the log.
  absl::Status Open(const CloudPortSettings& listen, std::unique_ptr<HttpHandler> handler,
                    const char* split, const char* name);

  Server* const server_;
  HttpFrontend* const rest_;
  ThreadPool* const admin_;
  MetricsEndpoint metrics_;
  const HttpServerOptions options_;
  std::vector<std::unique_ptr<HttpHandler>> handlers_;
  std::vector<std::unique_ptr<HttpServer>> ports_;
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_CLOUD_PORTS_H_
