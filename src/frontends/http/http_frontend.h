// SPDX-License-Identifier: Apache-2.0
// HttpFrontend: the handler of the inference port, or of another one that has a table of routes:
// finds the route of each request and calls the route's handler. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_FRONTEND_H_
#define NEREID_FRONTENDS_HTTP_HTTP_FRONTEND_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/threads/thread_pool.h"
#include "frontends/access/access_control.h"
#include "frontends/http/cors.h"
#include "frontends/http/http_endpoints.h"
#include "frontends/http/http_frontend_options.h"
#include "frontends/http/http_server.h"
#include "frontends/http/router.h"
#include "frontends/http/routes.h"
#include "observe/access/access_log.h"
#include "server/server.h"

namespace nereid {

// Executors for work that takes too long for an I/O thread.
struct HttpExecutors {
  ThreadPool* admin = nullptr;        // administration
  ThreadPool* compression = nullptr;  // reading and writing of large bodies and answers
  AccessLog* access_log = nullptr;    // writes lines about requests; null: nobody does
};

class HttpFrontend final : public HttpHandler {
 public:
  // `server` must outlive the frontend, which must be destroyed after the server has stopped and
  // `executors` have ended.
  HttpFrontend(Server* server, const HttpExecutors& executors,
               const HttpFrontendOptions& options = {}, HttpApi api = InferenceApi());

  HeadVerdict OnHead(HttpRequest* request) override;
  void Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) override;

  // As OnHead, for a request of another port that is going to be sent on to `path`.
  HeadVerdict CheckHead(const HttpRequest& request, HttpMethod method,
                        absl::string_view path) const;
  // Nothing if the client may use routes of the group. Handle asks by itself.
  std::optional<HttpResponse> Refuse(ApiGroup group, const HttpRequest& request) const;
  // Nothing if the request may come from where it comes, see CorsPolicy. Handle asks by itself.
  std::optional<HttpResponse> RefuseOrigin(const HttpRequest& request) const {
    return cors_.Refuse(request);
  }

 private:
  // The answer if the head alone decides it: a refusal, or that to OPTIONS.
  std::optional<HttpResponse> AnswerToHead(const HttpRequest& request, HttpMethod method,
                                           const std::optional<RouteMatch>& match) const;
  AnswerForm FormOf(absl::string_view path) const {
    return form_of_ == nullptr ? nullptr : form_of_(path);
  }
  // On a request that may use the route.
  HeadVerdict VerdictOn(const HttpRoute& route, HttpMethod method) const;
  // Handles a request for a model, which may wait `until` then for the model to be loaded.
  void RunWithModel(const HttpRoute& route, HttpCall call, HttpResponder responder,
                    TimePoint until);

  AccessLog* const access_log_;  // null: there is none
  const AccessControl access_;
  const CorsPolicy cors_;
  const uint64_t max_input_size_;
  const uint64_t max_admin_body_bytes_;
  HttpEndpoints endpoints_;
  const std::vector<HttpRoute> routes_;
  AnswerForm (*const form_of_)(absl::string_view path);
  const Router router_;
};

// `options` plus the transport settings that this frontend needs: alignment of binary tensors and
// the limit on bytes in flight. The caller chooses address, port and threads.
HttpServerOptions InferencePortOptions(Server* server, HttpServerOptions options = {});

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_FRONTEND_H_
