// SPDX-License-Identifier: Apache-2.0
// Routes about the settings of tracing: of all models, and of one.
#include "frontends/codec/trace_request.h"
#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"
#include "frontends/tracing/trace_service.h"

namespace nereid {
namespace {

HttpResponse TraceSettingResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  const std::string model = call.names.model.Decoded();
  if (const absl::Status known = CheckTraceModel(*endpoints.server, model); !known.ok()) {
    return StatusResponse(known);
  }
  absl::StatusOr<TraceUpdate> update = TraceUpdate();
  if (call.request->method() == HttpMethod::kPost) {
    update = ReadTraceUpdate(call.request->body_text(), endpoints.BudgetOf(*call.request));
    if (!update.ok()) return StatusResponse(update.status());
  }
  const auto settings = UpdateTraceSettings(*endpoints.server, endpoints.tracing, model, *update);
  return settings.ok() ? JsonResponse(ToJson(*settings)) : StatusResponse(settings.status());
}

constexpr HttpRoute kTraceRoutes[] = {
    {"/v2/trace/setting",
     RouteMethods::kGetAndPost,
     ApiGroup::kTrace,
     &RespondLater<TraceSettingResponse>,
     {"Trace settings of all models", "TraceSettings", "TraceSettings", BodyForm::kJson, false,
      true}},
    {"/v2/models/{model}/trace/setting",
     RouteMethods::kGetAndPost,
     ApiGroup::kTrace,
     &RespondLater<TraceSettingResponse>,
     {"Trace settings of the model", "TraceSettings", "TraceSettings", BodyForm::kJson, false,
      true}},
};

}  // namespace

absl::Span<const HttpRoute> TraceRoutes() { return kTraceRoutes; }

}  // namespace nereid
