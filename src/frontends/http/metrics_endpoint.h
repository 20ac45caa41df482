// SPDX-License-Identifier: Apache-2.0
// MetricsEndpoint: the handler of the metrics port. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_METRICS_ENDPOINT_H_
#define NEREID_FRONTENDS_HTTP_METRICS_ENDPOINT_H_

#include <memory>
#include <utility>

#include "base/threads/thread_pool.h"
#include "frontends/http/cors.h"
#include "frontends/http/http_server.h"
#include "server/server.h"

namespace nereid {

// GET /metrics returns the Prometheus text. Any other path returns an empty 200, on which scrapers
// of Triton rely; any other method returns 405.
class MetricsEndpoint final : public HttpHandler {
 public:
  // `server` must outlive the endpoint. `admin`, which builds the text, must end before the
  // endpoint is destroyed. Requests that `cors` refuses get 403.
  MetricsEndpoint(const Server* server, ThreadPool* admin, CorsPolicy cors)
      : server_(server), admin_(admin), cors_(std::move(cors)) {}
  HeadVerdict OnHead(HttpRequest* request) override;
  void Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) override;

 private:
  HttpResponse MetricsResponse() const;

  const Server* const server_;
  ThreadPool* const admin_;
  const CorsPolicy cors_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_METRICS_ENDPOINT_H_
