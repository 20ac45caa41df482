#include "frontends/http/server_endpoints.h"

#include "frontends/http/status_map.h"

namespace nereid {
namespace {

HttpResponse HealthResponse(const absl::StatusOr<bool>& healthy, const char* reason) {
  if (!healthy.ok()) return StatusResponse(healthy.status());
  return *healthy ? HttpResponse() : MakeErrorResponse(503, reason);
}

}  // namespace

HttpResponse ServerLiveResponse(const Server& server) {
  return HealthResponse(server.IsLive(), "Server not live");
}

HttpResponse ServerReadyResponse(const Server& server) {
  return HealthResponse(server.IsReady(ReadinessFrom::kLastAnswer), "Server not ready");
}

}  // namespace nereid
