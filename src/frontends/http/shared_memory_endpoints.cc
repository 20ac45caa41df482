// Routes about regions of shared memory. This build has no CUDA, so no region of that kind exists.
#include <absl/strings/str_cat.h>

#include "frontends/codec/shared_memory_request.h"
#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

HttpResponse EmptyOr(const absl::Status& status) {
  return status.ok() ? HttpResponse() : StatusResponse(status);
}

HttpResponse NoRegion(const char* kind) {
  return StatusResponse(absl::InvalidArgumentError(
      absl::StrCat("'region name' is necessary to register ", kind, " shared memory region")));
}

HttpResponse SystemStatus(const HttpEndpoints& endpoints, const HttpCall& call) {
  const auto regions = endpoints.shared_memory->Regions(call.names.region.Decoded());
  return regions.ok() ? JsonResponse(ToJson(*regions)) : StatusResponse(regions.status());
}

HttpResponse SystemRegister(const HttpEndpoints& endpoints, const HttpCall& call) {
  const absl::Status allowed = endpoints.shared_memory->CheckAllowed();
  if (!allowed.ok()) return StatusResponse(allowed);
  if (call.names.region.empty()) return NoRegion("system");
  const auto region = ReadRegisterRequest(call.names.region.Decoded(), call.request->body_text());
  return EmptyOr(region.ok() ? endpoints.shared_memory->Register(*region) : region.status());
}

HttpResponse SystemUnregister(const HttpEndpoints& endpoints, const HttpCall& call) {
  return EmptyOr(endpoints.shared_memory->Unregister(call.names.region.Decoded()));
}

HttpResponse CudaStatus(const HttpEndpoints& endpoints, const HttpCall& call) {
  const std::string name = call.names.region.Decoded();
  if (name.empty()) return JsonResponse("[]");
  return StatusResponse(endpoints.shared_memory->CudaRegionError(name));
}

HttpResponse CudaRegister(const HttpEndpoints& endpoints, const HttpCall& call) {
  const absl::Status allowed = endpoints.shared_memory->CheckAllowed();
  if (!allowed.ok()) return StatusResponse(allowed);
  if (call.names.region.empty()) return NoRegion("cuda");
  return StatusResponse(NoCudaError(call.names.region.Decoded()));
}

HttpResponse CudaUnregister(const HttpEndpoints& endpoints, const HttpCall& /*call*/) {
  return EmptyOr(endpoints.shared_memory->CheckAllowed());
}

constexpr HttpRoute kSharedMemoryRoutes[] = {
    {"/v2/systemsharedmemory[/region/{region}]/status", RouteMethods::kGet, "shared-memory",
     &RespondLater<SystemStatus>},
    {"/v2/systemsharedmemory[/region/{region}]/register", RouteMethods::kPost, "shared-memory",
     &RespondLater<SystemRegister>},
    {"/v2/systemsharedmemory[/region/{region}]/unregister", RouteMethods::kPost, "shared-memory",
     &RespondLater<SystemUnregister>},
    {"/v2/cudasharedmemory[/region/{region}]/status", RouteMethods::kGet, "shared-memory",
     &RespondNow<CudaStatus>},
    {"/v2/cudasharedmemory[/region/{region}]/register", RouteMethods::kPost, "shared-memory",
     &RespondNow<CudaRegister>},
    {"/v2/cudasharedmemory[/region/{region}]/unregister", RouteMethods::kPost, "shared-memory",
     &RespondNow<CudaUnregister>},
};

}  // namespace

absl::Span<const HttpRoute> SharedMemoryRoutes() { return kSharedMemoryRoutes; }

}  // namespace nereid
