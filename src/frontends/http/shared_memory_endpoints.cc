// SPDX-License-Identifier: Apache-2.0
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
  const auto region = ReadRegisterRequest(call.names.region.Decoded(), call.request->body_text(),
                                          endpoints.BudgetOf(*call.request));
  return EmptyOr(region.ok() ? endpoints.shared_memory->Register(*region) : region.status());
}

HttpResponse SystemUnregister(const HttpEndpoints& endpoints, const HttpCall& call) {
  const absl::Status allowed = endpoints.shared_memory->CheckAllowed();
  if (!allowed.ok()) return StatusResponse(allowed);
  const absl::Status body =
      CheckUnregisterRequest(call.request->body_text(), endpoints.BudgetOf(*call.request));
  return EmptyOr(body.ok() ? endpoints.shared_memory->Unregister(call.names.region.Decoded())
                           : body);
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

HttpResponse CudaUnregister(const HttpEndpoints& endpoints, const HttpCall& call) {
  const absl::Status allowed = endpoints.shared_memory->CheckAllowed();
  if (!allowed.ok()) return StatusResponse(allowed);
  return EmptyOr(
      CheckUnregisterRequest(call.request->body_text(), endpoints.BudgetOf(*call.request)));
}

constexpr HttpRoute kSharedMemoryRoutes[] = {
    {"/v2/systemsharedmemory[/region/{region}]/status",
     RouteMethods::kGet,
     ApiGroup::kSharedMemory,
     &RespondLater<SystemStatus>,
     {"Registered regions of shared memory", "SystemRegions"}},
    {"/v2/systemsharedmemory[/region/{region}]/register",
     RouteMethods::kPost,
     ApiGroup::kSharedMemory,
     &RespondLater<SystemRegister>,
     {"Register a region", nullptr, "RegisterSystem", BodyForm::kJson, false, true, nullptr,
      "The segment cannot be opened or mapped"}},
    {"/v2/systemsharedmemory[/region/{region}]/unregister",
     RouteMethods::kPost,
     ApiGroup::kSharedMemory,
     &RespondLater<SystemUnregister>,
     {"Unregister a region, or all", nullptr, nullptr, BodyForm::kJson, true, true}},
    {"/v2/cudasharedmemory[/region/{region}]/status",
     RouteMethods::kGet,
     ApiGroup::kSharedMemory,
     &RespondNow<CudaStatus>,
     {"Regions of CUDA memory: this build has none", "CudaRegions"}},
    {"/v2/cudasharedmemory[/region/{region}]/register",
     RouteMethods::kPost,
     ApiGroup::kSharedMemory,
     &RespondNow<CudaRegister>,
     {"Is refused: this build has no CUDA", nullptr, "RegisterCuda", BodyForm::kJson, false, true}},
    {"/v2/cudasharedmemory[/region/{region}]/unregister",
     RouteMethods::kPost,
     ApiGroup::kSharedMemory,
     &RespondLater<CudaUnregister>,
     {"Unregister regions of CUDA memory", nullptr, nullptr, BodyForm::kJson, true, true}},
};

}  // namespace

absl::Span<const HttpRoute> SharedMemoryRoutes() { return kSharedMemoryRoutes; }

}  // namespace nereid
