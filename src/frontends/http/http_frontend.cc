#include "frontends/http/http_frontend.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "frontends/http/model_endpoints.h"
#include "frontends/http/off_loop.h"
#include "frontends/http/repository_endpoints.h"
#include "frontends/http/server_endpoints.h"
#include "frontends/http/status_map.h"
#include "infer/request_cost.h"

namespace nereid {
namespace {

// Parts of the protocol that this server knows and does not offer.
const char* UnsupportedFeature(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::kTraceSetting:
    case Endpoint::kModelTraceSetting:
      return "the trace extension";
    case Endpoint::kLogging:
      return "the logging extension";
    case Endpoint::kSystemSharedMemoryStatus:
    case Endpoint::kSystemSharedMemoryRegister:
    case Endpoint::kSystemSharedMemoryUnregister:
      return "system shared memory";
    case Endpoint::kCudaSharedMemoryStatus:
    case Endpoint::kCudaSharedMemoryRegister:
    case Endpoint::kCudaSharedMemoryUnregister:
      return "CUDA shared memory";
    default:
      return "this endpoint";
  }
}

HttpResponse MethodNotAllowed(Endpoint endpoint) {
  HttpResponse response = MakeErrorResponse(405, "Method Not Allowed");
  response.headers.emplace_back("Allow", AllowedMethods(endpoint));
  return response;
}

// Whether the answer takes reading or computing that an I/O thread has no time for.
bool IsWork(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::kModelMetadata:
    case Endpoint::kModelConfig:
    case Endpoint::kModelStatistics:
    case Endpoint::kAllStatistics:
    case Endpoint::kRepositoryIndex:
    case Endpoint::kModelLoad:
    case Endpoint::kModelUnload:
      return true;
    default:
      return false;
  }
}

}  // namespace

HttpFrontend::HttpFrontend(Server* server, const HttpExecutors& executors,
                           const RequestLimits& limits, uint64_t max_waiting_bytes)
    : server_(server),
      admin_(executors.admin),
      server_metadata_(ToJson(server->Metadata())),
      infer_(server, executors.compression, limits),
      generate_(server, limits, max_waiting_bytes) {}

void HttpFrontend::Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) {
  const Route route = ParseRoute(request->path());
  if (route.endpoint == Endpoint::kNotFound) {
    return responder.Complete(MakeErrorResponse(404, "Not Found"));
  }
  if (!IsMethodAllowed(route.endpoint, request->method())) {
    return responder.Complete(MethodNotAllowed(route.endpoint));
  }
  if (route.endpoint == Endpoint::kInfer) {
    return infer_.Handle(route, std::move(request), std::move(responder));
  }
  if (route.endpoint == Endpoint::kGenerate || route.endpoint == Endpoint::kGenerateStream) {
    return generate_.Handle(route, *request, route.endpoint == Endpoint::kGenerateStream,
                            std::move(responder));
  }
  if (!IsWork(route.endpoint)) return Answer(route, *request, std::move(responder));
  AnswerOffLoop(admin_, std::move(responder),
                [this, route, request = std::move(request)](HttpResponder later) {
                  Answer(route, *request, std::move(later));
                });
}

void HttpFrontend::Answer(const Route& route, const HttpRequest& request, HttpResponder responder) {
  if (route.endpoint == Endpoint::kModelLoad || route.endpoint == Endpoint::kModelUnload) {
    return ControlModel(server_, route, request.body_text(), std::move(responder));
  }
  responder.Complete(Respond(route, request));
}

HttpResponse HttpFrontend::Respond(const Route& route, const HttpRequest& request) const {
  switch (route.endpoint) {
    case Endpoint::kServerMetadata:
      return JsonResponse(server_metadata_);
    case Endpoint::kServerLive:
      return ServerLiveResponse(*server_);
    case Endpoint::kServerReady:
      return ServerReadyResponse(*server_);
    case Endpoint::kModelMetadata:
      return ModelMetadataResponse(*server_, route);
    case Endpoint::kModelReady:
      return ModelReadyResponse(*server_, route);
    case Endpoint::kModelConfig:
      return ModelConfigResponse(*server_, route);
    case Endpoint::kModelStatistics:
    case Endpoint::kAllStatistics:
      return ModelStatisticsResponse(*server_, route);
    case Endpoint::kRepositoryIndex:
      return RepositoryIndexResponse(*server_, request.body_text());
    default:
      return MakeErrorResponse(501, absl::StrCat(UnsupportedFeature(route.endpoint),
                                                 " is not supported by this server yet"));
  }
}

HttpServerOptions InferencePortOptions(Server* server) {
  HttpServerOptions options;
  options.body_budget = server->in_flight_bytes();
  options.request_cost = kRequestCost;
  options.body_split_header = kHeaderLengthHeader;
  return options;
}

}  // namespace nereid
