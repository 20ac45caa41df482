// Routes of the protocol that this server knows but does not support.
#include <absl/strings/str_cat.h>

#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"

namespace nereid {
namespace {

HttpResponse NotSupported(const char* feature) {
  return MakeErrorResponse(501, absl::StrCat(feature, " is not supported by this server yet"));
}

HttpResponse NoLogging(const HttpEndpoints& /*endpoints*/, const HttpCall& /*call*/) {
  return NotSupported("the logging extension");
}

constexpr HttpRoute kUnsupportedRoutes[] = {
    {"/v2/logging", RouteMethods::kGetAndPost, ApiGroup::kLogging, &RespondNow<NoLogging>,
     {"Log settings", "LogSettings", "LogSettings", BodyForm::kJson, false, true}},
};

}  // namespace

absl::Span<const HttpRoute> UnsupportedRoutes() { return kUnsupportedRoutes; }

}  // namespace nereid
