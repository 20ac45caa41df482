// SPDX-License-Identifier: Apache-2.0
// Routes about regions of shared memory.
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
  const auto regions = endpoints.shared_memory->CudaRegions(call.names.region.Decoded());
  return regions.ok() ? JsonResponse(ToJson(*regions)) : StatusResponse(regions.status());
}

HttpResponse CudaRegister(const HttpEndpoints& endpoints, const HttpCall& call) {
  const absl::Status allowed = endpoints.shared_memory->CheckAllowed();
  if (!allowed.ok()) return StatusResponse(allowed);
  if (call.names.region.empty()) return NoRegion("cuda");
  const std::string name = call.names.region.Decoded();
  const absl::Status possible = endpoints.shared_memory->CheckCuda(name);
  if (!possible.ok()) return StatusResponse(possible);
  const auto request =
      ReadCudaRegisterRequest(name, call.request->body_text(), endpoints.BudgetOf(*call.request));
  if (!request.ok()) return StatusResponse(request.status());
  return EmptyOr(endpoints.shared_memory->RegisterCuda(request->region, request->handle));
}

HttpResponse CudaUnregister(const HttpEndpoints& endpoints, const HttpCall& call) {
  const absl::Status allowed = endpoints.shared_memory->CheckAllowed();
  if (!allowed.ok()) return StatusResponse(allowed);
  const absl::Status body =
      CheckUnregisterRequest(call.request->body_text(), endpoints.BudgetOf(*call.request));
  return EmptyOr(body.ok() ? endpoints.shared_memory->UnregisterCuda(call.names.region.Decoded())
                           : body);
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
     &RespondLater<CudaStatus>,
     {"Registered regions of CUDA memory", "CudaRegions"}},
    {"/v2/cudasharedmemory[/region/{region}]/register",
     RouteMethods::kPost,
     ApiGroup::kSharedMemory,
     &RespondLater<CudaRegister>,
     {"Register a region of CUDA memory", nullptr, "RegisterCuda", BodyForm::kJson, false, true}},
    {"/v2/cudasharedmemory[/region/{region}]/unregister",
     RouteMethods::kPost,
     ApiGroup::kSharedMemory,
     &RespondLater<CudaUnregister>,
     {"Unregister a region of CUDA memory, or all", nullptr, nullptr, BodyForm::kJson, true, true}},
};

}  // namespace

absl::Span<const HttpRoute> SharedMemoryRoutes() { return kSharedMemoryRoutes; }

}  // namespace nereid
