#include "frontends/http/generate_endpoint.h"

#include <absl/strings/match.h>

#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "frontends/http/generate_inference.h"
#include "frontends/http/http_endpoints.h"
#include "frontends/http/model_version.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

absl::Status CheckEncoding(const HttpRequest& request) {
  const absl::string_view coding = request.FindHeader("Content-Encoding").value_or("");
  if (coding.empty() || absl::EqualsIgnoreCase(coding, "identity")) return absl::OkStatus();
  return absl::InvalidArgumentError("Unsupported content-encoding, only 'identity' is supported.");
}

}  // namespace

GenerateEndpoint::GenerateEndpoint(Server* server, const HttpFrontendOptions& options)
    : server_(server),
      tracing_(options.tracing),
      limits_(options.limits),
      max_waiting_bytes_(options.max_waiting_bytes),
      header_forwarding_(options.header_forwarding),
      allocator_(server->in_flight_bytes()) {}

void GenerateEndpoint::Handle(const PathNames& names, const HttpRequest& request, bool streamed,
                              HttpResponder responder) {
  auto inference = Read(names, request, responder.other_requests());
  if (!inference.ok()) return responder.Complete(StatusResponse(inference.status()));
  const auto body = streamed ? std::make_shared<HttpBodyStream>(max_waiting_bytes_) : nullptr;
  GenerateInference::Issue(*std::move(inference), server_, &allocator_, body, std::move(responder));
}

absl::StatusOr<std::shared_ptr<GenerateInference>> GenerateEndpoint::Read(
    const PathNames& names, const HttpRequest& request, uint64_t other_requests) const {
  ASSIGN_OR_RETURN(const int64_t version, VersionOf(names));
  ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model,
                   server_->FindModel(names.model.Decoded(), version));
  RETURN_IF_ERROR(CheckEncoding(request));
  ASSIGN_OR_RETURN(BudgetUnits slot, server_->in_flight_requests()->TakeFairly(
                                         1, other_requests, ShareUse::kAdmission));
  auto inference = std::make_shared<GenerateInference>(std::move(model), version);
  inference->set_slot(std::move(slot));
  inference->Trace(tracing_, request);
  inference->set_load_metrics(LoadMetricsFormatOf(request));
  RETURN_IF_ERROR(inference->Read(request.body(), limits_, server_->in_flight_bytes()));
  RETURN_IF_ERROR(inference->Forward(header_forwarding_, request.headers()));
  return inference;
}

namespace {

template <bool streamed>
void Generate(HttpEndpoints* endpoints, HttpCall call, HttpResponder responder) {
  endpoints->generate.Handle(call.names, *call.request, streamed, std::move(responder));
}

constexpr HttpRoute kGenerateRoutes[] = {
    {"/v2/models/{model}[/versions/{version}]/generate",
     RouteMethods::kPost,
     ApiGroup::kInference,
     &Generate<false>,
     {"Inference with values by name", "GenerateResponse", "GenerateRequest"},
     RouteBody::kInput},
    {"/v2/models/{model}[/versions/{version}]/generate_stream",
     RouteMethods::kPost,
     ApiGroup::kInference,
     &Generate<true>,
     {"The same; each response is an event", "GenerateResponse", "GenerateRequest",
      BodyForm::kEvents},
     RouteBody::kInput},
};

}  // namespace

absl::Span<const HttpRoute> GenerateRoutes() { return kGenerateRoutes; }

}  // namespace nereid
