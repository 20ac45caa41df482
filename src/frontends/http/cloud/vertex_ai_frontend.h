// SPDX-License-Identifier: Apache-2.0
// VertexAiFrontend: the handler of the port for Google's Vertex AI, which knows two paths of a
// container: one that says whether it is ready, and one for predictions. Everything is handed to
// the REST frontend. Immutable, thread-safe.
//
// A prediction is an inference with the default model. With the header X-Vertex-Ai-Triton-Redirect
// it is a request for another path of the REST frontend or for the metrics page.
#ifndef NEREID_FRONTENDS_HTTP_CLOUD_VERTEX_AI_FRONTEND_H_
#define NEREID_FRONTENDS_HTTP_CLOUD_VERTEX_AI_FRONTEND_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <memory>
#include <string>

#include "frontends/http/http_frontend.h"
#include "frontends/http/http_server.h"
#include "frontends/http/router.h"
#include "server/server.h"

namespace nereid {

struct VertexAiRoutes {
  std::string predict;
  std::string health;
};

class VertexAiFrontend final : public HttpHandler {
 public:
  // `rest` and `metrics`, the handler of the metrics page, must outlive the frontend.
  VertexAiFrontend(HttpFrontend* rest, HttpHandler* metrics, VertexAiRoutes routes,
                   absl::string_view default_model);

  HeadVerdict OnHead(HttpRequest* request) override;
  void Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) override;

 private:
  void Predict(std::unique_ptr<HttpRequest> request, HttpResponder responder);
  void Redirect(const std::string& path, std::unique_ptr<HttpRequest> request,
                HttpResponder responder);
  // Hands the request to the REST frontend.
  void SendToRest(HttpMethod method, absl::string_view path, std::unique_ptr<HttpRequest> request,
                  HttpResponder responder);

  HttpFrontend* const rest_;
  HttpHandler* const metrics_;
  const VertexAiRoutes routes_;
  const std::string default_path_;
  const Router redirects_;
};

// The model of predictions without redirection: `asked`, which has to be ready, or, if that is
// empty, the only ready model. Otherwise INVALID_ARGUMENT.
absl::StatusOr<std::string> FindDefaultModel(const Server& server, const std::string& asked);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CLOUD_VERTEX_AI_FRONTEND_H_
