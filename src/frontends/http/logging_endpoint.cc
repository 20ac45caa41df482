// SPDX-License-Identifier: Apache-2.0
// The route of the log settings.
#include "frontends/codec/log_settings.h"
#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

// Both methods answer with the settings as they are then.
HttpResponse LogSettingsResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  if (call.request->method() == HttpMethod::kPost) {
    const absl::Status applied =
        ApplyLogSettings(call.request->body_text(), endpoints.BudgetOf(*call.request));
    if (!applied.ok()) return StatusResponse(applied);
  }
  return JsonResponse(LogSettingsToJson(Log::Settings()));
}

// Off the loop, because changes wait for lines that are being written.
constexpr HttpRoute kLoggingRoutes[] = {
    {"/v2/logging",
     RouteMethods::kGetAndPost,
     ApiGroup::kLogging,
     &RespondLater<LogSettingsResponse>,
     {"Settings of the log", "LogSettings", "LogSettings", BodyForm::kJson, false, true}},
};

}  // namespace

absl::Span<const HttpRoute> LoggingRoutes() { return kLoggingRoutes; }

}  // namespace nereid
