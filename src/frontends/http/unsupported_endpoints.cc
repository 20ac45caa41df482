// Routes of the protocol that this server knows but does not support.
#include <absl/strings/str_cat.h>

#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"

namespace nereid {
namespace {

HttpResponse NotSupported(const char* feature) {
  return MakeErrorResponse(501, absl::StrCat(feature, " is not supported by this server yet"));
}

HttpResponse NoTracing(const HttpEndpoints& /*endpoints*/, const HttpCall& /*call*/) {
  return NotSupported("the trace extension");
}

HttpResponse NoLogging(const HttpEndpoints& /*endpoints*/, const HttpCall& /*call*/) {
  return NotSupported("the logging extension");
}

HttpResponse NoSystemMemory(const HttpEndpoints& /*endpoints*/, const HttpCall& /*call*/) {
  return NotSupported("system shared memory");
}

HttpResponse NoCudaMemory(const HttpEndpoints& /*endpoints*/, const HttpCall& /*call*/) {
  return NotSupported("CUDA shared memory");
}

constexpr HttpRoute kUnsupportedRoutes[] = {
    {"/v2/trace/setting", RouteMethods::kGetAndPost, "trace", &RespondNow<NoTracing>},
    {"/v2/models/{model}/trace/setting", RouteMethods::kGetAndPost, "trace",
     &RespondNow<NoTracing>},
    {"/v2/logging", RouteMethods::kGetAndPost, "logging", &RespondNow<NoLogging>},
    {"/v2/systemsharedmemory[/region/{region}]/status", RouteMethods::kGet, "shared-memory",
     &RespondNow<NoSystemMemory>},
    {"/v2/systemsharedmemory[/region/{region}]/register", RouteMethods::kPost, "shared-memory",
     &RespondNow<NoSystemMemory>},
    {"/v2/systemsharedmemory[/region/{region}]/unregister", RouteMethods::kPost, "shared-memory",
     &RespondNow<NoSystemMemory>},
    {"/v2/cudasharedmemory[/region/{region}]/status", RouteMethods::kGet, "shared-memory",
     &RespondNow<NoCudaMemory>},
    {"/v2/cudasharedmemory[/region/{region}]/register", RouteMethods::kPost, "shared-memory",
     &RespondNow<NoCudaMemory>},
    {"/v2/cudasharedmemory[/region/{region}]/unregister", RouteMethods::kPost, "shared-memory",
     &RespondNow<NoCudaMemory>},
};

}  // namespace

absl::Span<const HttpRoute> UnsupportedRoutes() { return kUnsupportedRoutes; }

}  // namespace nereid
