// SPDX-License-Identifier: Apache-2.0
// Routes about the server: health and metadata.
#include "frontends/http/health_response.h"
#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

HttpResponse ServerLiveResponse(const HttpEndpoints& endpoints, const HttpCall& /*call*/) {
  return HealthResponse(endpoints.server->IsLive(), {"live", "Server not live"},
                        endpoints.health_body);
}

HttpResponse ServerReadyResponse(const HttpEndpoints& endpoints, const HttpCall& /*call*/) {
  return HealthResponse(endpoints.server->IsReady(ReadinessFrom::kLastAnswer),
                        {"ready", "Server not ready"}, endpoints.health_body);
}

HttpResponse ServerMetadataResponse(const HttpEndpoints& endpoints, const HttpCall& /*call*/) {
  return JsonResponse(endpoints.server_metadata);
}

constexpr HttpRoute kServerRoutes[] = {
    {"/v2/health/live",
     RouteMethods::kGet,
     ApiGroup::kHealth,
     &RespondNow<ServerLiveResponse>,
     {"Is the server live?", "Live"}},
    {"/v2/health/ready",
     RouteMethods::kGet,
     ApiGroup::kHealth,
     &RespondNow<ServerReadyResponse>,
     {"Is the server ready?", "Ready"}},
    {"/v2",
     RouteMethods::kGet,
     ApiGroup::kMetadata,
     &RespondNow<ServerMetadataResponse>,
     {"Name, version and extensions of the server", "ServerMetadata"}},
};

}  // namespace

absl::Span<const HttpRoute> ServerRoutes() { return kServerRoutes; }

}  // namespace nereid
