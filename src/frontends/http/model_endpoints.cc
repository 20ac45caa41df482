// Routes about models: readiness, metadata, configuration, statistics.
#include "frontends/http/model_version.h"
#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

// 200 with an empty body, 503 if not ready, otherwise the error of the look-up.
HttpResponse ModelReadyResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  const auto version = VersionOf(call.names);
  if (!version.ok()) return StatusResponse(version.status());
  const auto ready = endpoints.server->IsModelReady(call.names.model.Decoded(), *version,
                                                    ReadinessFrom::kLastAnswer);
  if (!ready.ok()) return StatusResponse(ready.status());
  return *ready ? HttpResponse() : MakeErrorResponse(503, "Model version not ready");
}

HttpResponse ModelMetadataResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  const auto version = VersionOf(call.names);
  if (!version.ok()) return StatusResponse(version.status());
  const auto metadata = endpoints.server->GetModelMetadata(call.names.model.Decoded(), *version);
  return metadata.ok() ? JsonResponse(ToJson(*metadata)) : StatusResponse(metadata.status());
}

HttpResponse ModelConfigResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  const auto version = VersionOf(call.names);
  if (!version.ok()) return StatusResponse(version.status());
  auto config = endpoints.server->ModelConfigJson(call.names.model.Decoded(), *version);
  return config.ok() ? JsonResponse(*std::move(config)) : StatusResponse(config.status());
}

// The statistics of the path's model, or of all ready models if the path names none.
HttpResponse ModelStatisticsResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  const auto version = VersionOf(call.names);
  if (!version.ok()) return StatusResponse(version.status());
  const auto statistics = endpoints.server->Statistics(call.names.model.Decoded(), *version);
  return statistics.ok() ? JsonResponse(ToJson(*statistics)) : StatusResponse(statistics.status());
}

constexpr HttpRoute kModelRoutes[] = {
    {"/v2/models/{model}[/versions/{version}]/ready", RouteMethods::kGet, "health",
     &RespondNow<ModelReadyResponse>},
    {"/v2/models/{model}[/versions/{version}]", RouteMethods::kGet, "metadata",
     &RespondLater<ModelMetadataResponse>},
    {"/v2/models/{model}[/versions/{version}]/config", RouteMethods::kGet, "model-config",
     &RespondLater<ModelConfigResponse>},
    {"/v2/models/{model}[/versions/{version}]/stats", RouteMethods::kGet, "statistics",
     &RespondLater<ModelStatisticsResponse>},
    {"/v2/models/stats", RouteMethods::kGet, "statistics", &RespondLater<ModelStatisticsResponse>},
};

}  // namespace

absl::Span<const HttpRoute> ModelRoutes() { return kModelRoutes; }

}  // namespace nereid
