// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/metrics_endpoint.h"

#include <utility>

#include "frontends/http/off_loop.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

constexpr char kPlainText[] = "text/plain; charset=utf-8";

}  // namespace

// Nothing here takes a body.
HeadVerdict MetricsEndpoint::OnHead(HttpRequest*) { return {/*takes_body=*/false, {}}; }

void MetricsEndpoint::Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) {
  if (auto refusal = cors_.Refuse(*request)) return responder.Complete(*std::move(refusal));
  if (request->method() != HttpMethod::kGet && request->method() != HttpMethod::kHead) {
    HttpResponse refusal = MakeErrorResponse(405, "Method Not Allowed");
    refusal.headers.emplace_back("Allow", "GET, HEAD");
    return responder.Complete(std::move(refusal));
  }
  if (request->path() != "/metrics" && request->path() != "/metrics/") {
    HttpResponse nothing;
    nothing.content_type = kPlainText;
    return responder.Complete(std::move(nothing));
  }
  RespondOffLoop(admin_, std::move(responder), [this] { return MetricsResponse(); });
}

HttpResponse MetricsEndpoint::MetricsResponse() const {
  auto text = server_->MetricsText();
  if (!text.ok()) return StatusResponse(text.status());
  HttpResponse response;
  response.content_type = kPlainText;
  response.text = *std::move(text);
  return response;
}

}  // namespace nereid
