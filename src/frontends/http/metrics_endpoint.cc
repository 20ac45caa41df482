#include "frontends/http/metrics_endpoint.h"

#include <utility>

#include "frontends/http/status_map.h"

namespace nereid {

void MetricsEndpoint::Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) {
  responder.Complete(Respond(*request));
}

HttpResponse MetricsEndpoint::Respond(const HttpRequest& request) const {
  if (request.method() != HttpMethod::kGet && request.method() != HttpMethod::kHead) {
    HttpResponse response = MakeErrorResponse(405, "Method Not Allowed");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  HttpResponse response;
  response.content_type = "text/plain; charset=utf-8";
  if (request.path() != "/metrics" && request.path() != "/metrics/") return response;
  auto text = server_->MetricsText();
  if (!text.ok()) return StatusResponse(text.status());
  response.text = *std::move(text);
  return response;
}

}  // namespace nereid
