// SPDX-License-Identifier: Apache-2.0
// Routes about models: readiness, metadata, configuration, statistics.
#include <string>

#include "frontends/http/health_response.h"
#include "frontends/http/model_version.h"
#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

// An error of the look-up says nothing about readiness: the model is not known.
HttpResponse ModelReadyResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  const auto version = VersionOf(call.names);
  if (!version.ok()) return StatusResponse(version.status());
  const std::string name = call.names.model.Decoded();
  const auto ready = endpoints.server->IsModelReady(name, *version, ReadinessFrom::kLastAnswer);
  return HealthResponse(ready, {"ready", "Model version not ready"}, endpoints.health_body, name);
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
    {"/v2/models/{model}[/versions/{version}]/ready",
     RouteMethods::kGet,
     ApiGroup::kHealth,
     &RespondNow<ModelReadyResponse>,
     {"Is the model ready?", "ModelReady"}},
    {"/v2/models/{model}[/versions/{version}]",
     RouteMethods::kGet,
     ApiGroup::kMetadata,
     &RespondLater<ModelMetadataResponse>,
     {"Inputs and outputs of the model", "ModelMetadata"},
     RouteBody::kSmall,
     /*awaits_model=*/true},
    {"/v2/models/{model}[/versions/{version}]/config",
     RouteMethods::kGet,
     ApiGroup::kModelConfig,
     &RespondLater<ModelConfigResponse>,
     {"Configuration of the model", "ModelConfig"},
     RouteBody::kSmall,
     /*awaits_model=*/true},
    {"/v2/models/{model}[/versions/{version}]/stats",
     RouteMethods::kGet,
     ApiGroup::kStatistics,
     &RespondLater<ModelStatisticsResponse>,
     {"Statistics of the model", "Statistics"}},
    {"/v2/models/stats",
     RouteMethods::kGet,
     ApiGroup::kStatistics,
     &RespondLater<ModelStatisticsResponse>,
     {"Statistics of all ready models", "Statistics"}},
};

}  // namespace

absl::Span<const HttpRoute> ModelRoutes() { return kModelRoutes; }

}  // namespace nereid
