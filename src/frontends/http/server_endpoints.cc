// Routes about the server: health and metadata.
#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

// 200 with an empty body, or 503 with the reason.
HttpResponse HealthResponse(const absl::StatusOr<bool>& healthy, const char* reason) {
  if (!healthy.ok()) return StatusResponse(healthy.status());
  return *healthy ? HttpResponse() : MakeErrorResponse(503, reason);
}

HttpResponse ServerLiveResponse(const HttpEndpoints& endpoints, const HttpCall& /*call*/) {
  return HealthResponse(endpoints.server->IsLive(), "Server not live");
}

HttpResponse ServerReadyResponse(const HttpEndpoints& endpoints, const HttpCall& /*call*/) {
  return HealthResponse(endpoints.server->IsReady(ReadinessFrom::kLastAnswer), "Server not ready");
}

HttpResponse ServerMetadataResponse(const HttpEndpoints& endpoints, const HttpCall& /*call*/) {
  return JsonResponse(endpoints.server_metadata);
}

constexpr HttpRoute kServerRoutes[] = {
    {"/v2/health/live", RouteMethods::kGet, "health", &RespondNow<ServerLiveResponse>},
    {"/v2/health/ready", RouteMethods::kGet, "health", &RespondNow<ServerReadyResponse>},
    {"/v2", RouteMethods::kGet, "metadata", &RespondNow<ServerMetadataResponse>},
};

}  // namespace

absl::Span<const HttpRoute> ServerRoutes() { return kServerRoutes; }

}  // namespace nereid
