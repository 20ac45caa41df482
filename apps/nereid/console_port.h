// SPDX-License-Identifier: Apache-2.0
// ConsolePort: the port of the console. Thread-compatible; owned by Services.
#ifndef NEREID_APPS_NEREID_CONSOLE_PORT_H_
#define NEREID_APPS_NEREID_CONSOLE_PORT_H_

#include <absl/status/status.h>

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "console_settings.h"
#include "frontends/http/console/console_frontend.h"
#include "frontends/http/http_frontend.h"
#include "frontends/http/http_server.h"
#include "frontends/http/metrics_endpoint.h"
#include "server/server.h"

namespace nereid {

// What the page says about the HTTP port in the requests that it shows. A plain value.
struct ShownHttpPort {
  uint16_t port = 0;  // 0: there is none
  bool tls = false;
};

class ConsolePort {
 public:
  // `server` and the executors must outlive the port; the executors must end before it is
  // destroyed. `options` are those of the HTTP port's frontend.
  ConsolePort(Server* server, const HttpExecutors& executors, const HttpFrontendOptions& options);

  // Opens the port, logs its address, and writes the link with the token to standard error: not to
  // the log, whose last lines the API shows. `http` are the options of the HTTP port, whose limits
  // hold here, too.
  absl::Status Start(const ConsoleSettings& settings, HttpServerOptions http, ShownHttpPort shown);

  uint16_t port() const { return port_ == nullptr ? 0 : port_->port(); }
  // As that of HttpServer.
  void Stop(TimePoint deadline);

 private:
  Server* const server_;
  ThreadPool* const admin_;
  const AccessControl access_;
  HttpFrontend owner_rest_;
  HttpFrontend key_holder_rest_;
  MetricsEndpoint metrics_;
  std::unique_ptr<ConsoleFrontend> frontend_;
  std::unique_ptr<HttpServer> port_;
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_CONSOLE_PORT_H_
