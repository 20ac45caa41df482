#include "frontends/http/http_frontend.h"

#include <optional>
#include <utility>

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
                           const RequestLimits& limits, uint64_t max_waiting_bytes,
                           SharedMemoryRegistry* shared_memory)
    : endpoints_{server,
                 executors.admin,
                 shared_memory,
                 ToJson(server->Metadata()),
                 InferEndpoint(server, executors.compression, limits, shared_memory),
                 GenerateEndpoint(server, limits, max_waiting_bytes)},
      routes_(AllRoutes()),
      router_(MakeRouter(routes_)) {}

void HttpFrontend::Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) {
  const std::optional<RouteMatch> match = router_.Match(request->path());
  if (!match.has_value()) return responder.Complete(MakeErrorResponse(404, "Not Found"));
  const HttpRoute& route = routes_[match->pattern];
  if (!IsMethodAllowed(route.methods, request->method())) {
    return responder.Complete(MethodNotAllowed(route));
  }
  route.handle(&endpoints_, {match->names, std::move(request)}, std::move(responder));
}

HttpServerOptions InferencePortOptions(Server* server, HttpServerOptions options) {
  options.body_budget = server->in_flight_bytes();
  options.request_cost = kRequestCost;
  options.body_split_header = kHeaderLengthHeader;
  return options;
}

}  // namespace nereid
