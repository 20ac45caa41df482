#include "frontends/http/http_frontend.h"

#include <optional>
#include <string>
#include <utility>

#include "frontends/http/logged_responder.h"
#include "frontends/http/status_map.h"
#include "infer/request_cost.h"

namespace nereid {
namespace {

HttpResponse MethodNotAllowed(const HttpRoute& route) {
  HttpResponse response = MakeErrorResponse(405, "Method Not Allowed");
  response.headers.emplace_back("Allow", AllowedMethods(route.methods));
  return response;
}

}  // namespace

HttpFrontend::HttpFrontend(Server* server, const HttpExecutors& executors,
                           const HttpFrontendOptions& options)
    : access_log_(executors.access_log),
      access_(options.access),
      cors_(options.cors),
      endpoints_{server,
                 executors.admin,
                 options.shared_memory,
                 options.tracing,
                 &access_,
                 ToJson(server->Metadata()),
                 InferEndpoint(server, executors.compression, options),
                 GenerateEndpoint(server, options)},
      routes_(AllRoutes()),
      router_(MakeRouter(routes_)) {}

void HttpFrontend::Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) {
  cors_.Mark(*request, &responder);
  const std::optional<RouteMatch> match = router_.Match(request->path());
  if (access_log_ != nullptr && access_log_->Takes()) {
    std::string model = match.has_value() ? match->names.model.Decoded() : "";
    responder = LogAnswer(access_log_, *endpoints_.server->clock(), *request, std::move(model),
                          std::move(responder));
  }
  if (!match.has_value()) return responder.Complete(MakeErrorResponse(404, "Not Found"));
  const HttpRoute& route = routes_[match->pattern];
  if (request->method() == HttpMethod::kOptions) {
    return responder.Complete(cors_.Options(*request, AllowedMethods(route.methods)));
  }
  if (auto refusal = Refuse(route.group, *request)) return responder.Complete(*std::move(refusal));
  if (!IsMethodAllowed(route.methods, request->method())) {
    return responder.Complete(MethodNotAllowed(route));
  }
  route.handle(&endpoints_, {match->names, std::move(request)}, std::move(responder));
}

std::optional<HttpResponse> HttpFrontend::Refuse(ApiGroup group, const HttpRequest& request) const {
  const std::optional<AccessRefusal> refusal = access_.Check(
      group, [&](absl::string_view name) { return request.FindHeader(name).value_or(""); });
  if (!refusal.has_value()) return std::nullopt;
  if (refusal->reason != AccessRefusal::Reason::kNoKey) {
    return MakeErrorResponse(403, refusal->message);
  }
  HttpResponse response = MakeErrorResponse(401, refusal->message);
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

HttpServerOptions InferencePortOptions(Server* server, HttpServerOptions options) {
  options.body_budget = server->in_flight_bytes();
  options.request_cost = kRequestCost;
  options.body_split_header = kHeaderLengthHeader;
  return options;
}

}  // namespace nereid
