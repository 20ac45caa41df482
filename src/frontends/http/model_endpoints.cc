#include "frontends/http/model_endpoints.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <utility>

#include "frontends/http/status_map.h"

namespace nereid {

absl::StatusOr<int64_t> RouteVersion(const Route& route) {
  if (route.version.empty()) return kLatestVersion;
  int64_t version = 0;
  if (!absl::SimpleAtoi(route.version, &version)) {
    return absl::InvalidArgumentError(
        absl::StrCat("failed to get model version from specified version string '", route.version,
                     "' (details: stoll), version should be an integral value > 0"));
  }
  return version;
}

HttpResponse ModelReadyResponse(const Server& server, const Route& route) {
  const auto version = RouteVersion(route);
  if (!version.ok()) return StatusResponse(version.status());
  const auto ready = server.IsModelReady(route.model, *version, ReadinessFrom::kLastAnswer);
  if (!ready.ok()) return StatusResponse(ready.status());
  return *ready ? HttpResponse() : MakeErrorResponse(503, "Model version not ready");
}

HttpResponse ModelMetadataResponse(const Server& server, const Route& route) {
  const auto version = RouteVersion(route);
  if (!version.ok()) return StatusResponse(version.status());
  const auto metadata = server.GetModelMetadata(route.model, *version);
  return metadata.ok() ? JsonResponse(ToJson(*metadata)) : StatusResponse(metadata.status());
}

HttpResponse ModelConfigResponse(const Server& server, const Route& route) {
  const auto version = RouteVersion(route);
  if (!version.ok()) return StatusResponse(version.status());
  auto config = server.ModelConfigJson(route.model, *version);
  return config.ok() ? JsonResponse(*std::move(config)) : StatusResponse(config.status());
}

HttpResponse ModelStatisticsResponse(const Server& server, const Route& route) {
  const auto version = RouteVersion(route);
  if (!version.ok()) return StatusResponse(version.status());
  const auto statistics = server.Statistics(route.model, *version);
  return statistics.ok() ? JsonResponse(ToJson(*statistics)) : StatusResponse(statistics.status());
}

}  // namespace nereid
