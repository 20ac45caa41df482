// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/generate_endpoint.h"

#include <absl/strings/match.h>

#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/http/generate_inference.h"
#include "frontends/http/http_endpoints.h"
#include "frontends/http/model_version.h"
#include "frontends/http/off_loop.h"
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

GenerateEndpoint::GenerateEndpoint(Server* server, ThreadPool* compression,
                                   const HttpFrontendOptions& options)
    : server_(server),
      compression_(compression),
      tracing_(options.tracing),
      limits_(options.limits),
      non_finite_(options.non_finite),
      max_waiting_bytes_(options.max_waiting_bytes),
      header_forwarding_(options.header_forwarding),
      allocator_(server->in_flight_bytes()) {}

void GenerateEndpoint::Handle(const PathNames& names, std::unique_ptr<HttpRequest> request,
                              bool streamed, HttpResponder responder) {
  auto begun = Begin(names, *request, responder.other_requests());
  if (!begun.ok()) {
    NoteFailure(nullptr, begun.status());
    return responder.Complete(StatusResponse(begun.status()));
  }
  std::shared_ptr<GenerateInference> inference = *std::move(begun);
  if (streamed) {
    std::shared_ptr<ResponseCredit> credit;
    if (inference->is_decoupled()) {
      credit = std::make_shared<ResponseCredit>(std::make_shared<ResponseCredit::Account>(0),
                                                max_waiting_bytes_);
    }
    inference->set_events(std::make_shared<HttpBodyStream>(max_waiting_bytes_, std::move(credit)));
  }
  InlineTurn* const turn = responder.inline_turn();
  inference->Attach(std::move(responder));
  if (request->body_text().size() > kMostInlineJsonBytes) {
    return ReadElsewhere(std::move(request), std::move(inference));
  }
  const absl::Status read = Read(*request, inference.get());
  request.reset();  // the inference holds the body
  IssueOrRefuse(read, std::move(inference), turn);
}

void GenerateEndpoint::ReadElsewhere(std::unique_ptr<HttpRequest> request,
                                     std::shared_ptr<GenerateInference> inference) {
  ReadOffLoop(
      compression_, std::move(request), std::move(inference),
      [this](const HttpRequest& given, GenerateInference* into) { return Read(given, into); },
      [this](const absl::Status& read, std::shared_ptr<GenerateInference> issued) {
        IssueOrRefuse(read, std::move(issued), /*turn=*/nullptr);
      });
}

absl::StatusOr<std::shared_ptr<GenerateInference>> GenerateEndpoint::Begin(
    const PathNames& names, const HttpRequest& request, uint64_t other_requests) const {
  ASSIGN_OR_RETURN(const int64_t version, VersionOf(names));
  ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model,
                   server_->FindModel(names.model.Decoded(), version));
  RETURN_IF_ERROR(CheckEncoding(request));
  ASSIGN_OR_RETURN(BudgetUnits slot, server_->in_flight_requests()->TakeFairly(
                                         1, other_requests, ShareUse::kAdmission));
  auto inference = std::make_shared<GenerateInference>(std::move(model), version, compression_);
  inference->set_slot(std::move(slot));
  inference->set_non_finite(non_finite_);
  inference->Trace(tracing_, request);
  inference->set_load_metrics(LoadMetricsFormatOf(request));
  return inference;
}

absl::Status GenerateEndpoint::Read(const HttpRequest& request,
                                    GenerateInference* inference) const {
  RETURN_IF_ERROR(inference->Read(request.body(), limits_, server_->in_flight_bytes()));
  return inference->Forward(header_forwarding_, request.headers());
}

void GenerateEndpoint::IssueOrRefuse(const absl::Status& read,
                                     std::shared_ptr<GenerateInference> inference,
                                     InlineTurn* turn) {
  if (!read.ok()) return inference->Refuse(read);
  GenerateInference::Issue(std::move(inference), server_, &allocator_, turn);
}

namespace {

template <bool streamed>
void Generate(HttpEndpoints* endpoints, HttpCall call, HttpResponder responder) {
  endpoints->generate.Handle(call.names, std::move(call.request), streamed, std::move(responder));
}

constexpr HttpRoute kGenerateRoutes[] = {
    {"/v2/models/{model}[/versions/{version}]/generate",
     RouteMethods::kPost,
     ApiGroup::kInference,
     &Generate<false>,
     {"Inference with values by name", "GenerateResponse", "GenerateRequest"},
     RouteBody::kInput,
     /*awaits_model=*/true},
    {"/v2/models/{model}[/versions/{version}]/generate_stream",
     RouteMethods::kPost,
     ApiGroup::kInference,
     &Generate<true>,
     {"The same; each response is an event", "GenerateResponse", "GenerateRequest",
      BodyForm::kEvents},
     RouteBody::kInput,
     /*awaits_model=*/true},
};

}  // namespace

absl::Span<const HttpRoute> GenerateRoutes() { return kGenerateRoutes; }

}  // namespace nereid
