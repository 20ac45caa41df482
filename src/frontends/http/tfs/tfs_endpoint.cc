// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/tfs/tfs_endpoint.h"

#include <absl/strings/str_cat.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "frontends/codec/body_decompression.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/http/compress_body.h"
#include "frontends/http/http_endpoints.h"
#include "frontends/http/model_version.h"
#include "frontends/http/off_loop.h"
#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"
#include "frontends/http/tfs/tfs_inference.h"
#include "frontends/tfs/tfs_reports.h"
#include "frontends/tfs/tfs_servable.h"

namespace nereid {
namespace {

// The model that the path asks for.
absl::StatusOr<TfsModelSpec> AskedModel(const PathNames& names) {
  TfsModelSpec spec;
  spec.name = names.model.Decoded();
  if (!names.version.empty()) {
    ASSIGN_OR_RETURN(spec.version, VersionOf(names));
  } else if (!names.label.empty()) {
    spec.label = names.label.Decoded();
  }
  return spec;
}

absl::StatusOr<std::shared_ptr<ServingModel>> FindServable(const Server& server,
                                                           const PathNames& names) {
  ASSIGN_OR_RETURN(const TfsModelSpec spec, AskedModel(names));
  return FindTfsModel(server, spec);
}

}  // namespace

TfsEndpoint::TfsEndpoint(Server* server, ThreadPool* executor, const HttpFrontendOptions& options)
    : server_(server),
      executor_(executor),
      tracing_(options.tracing),
      limits_(options.limits),
      non_finite_(options.non_finite),
      header_forwarding_(options.header_forwarding),
      allocator_(server->in_flight_bytes()) {}

void TfsEndpoint::Handle(const PathNames& names, TfsMethod method,
                         std::unique_ptr<HttpRequest> request, HttpResponder responder) {
  const auto coding = ParseContentEncoding(request->FindHeader("Content-Encoding").value_or(""));
  if (!coding.ok()) {
    NoteFailure(nullptr, coding.status());
    return responder.Complete(CodingRefusal(coding.status()));
  }
  auto begun = Begin(names, method, *request, responder.other_requests());
  if (!begun.ok()) {
    NoteFailure(nullptr, begun.status());
    return responder.Complete(StatusResponse(begun.status()));
  }
  std::shared_ptr<TfsInference> inference = *std::move(begun);
  InlineTurn* const turn = responder.inline_turn();
  inference->Attach(std::move(responder));
  if (*coding != ContentCoding::kIdentity || request->body_text().size() > kMostInlineJsonBytes) {
    return ReadOffLoop(
        executor_, std::move(request), std::move(inference),
        [this, coding = *coding](HttpRequest& given, TfsInference* into) {
          RETURN_IF_ERROR(Decompress(coding, &given, *into));
          return Read(given, into);
        },
        [this](const absl::Status& read, std::shared_ptr<TfsInference> issued) {
          IssueOrRefuse(read, std::move(issued), /*turn=*/nullptr);
        });
  }
  const absl::Status read = Read(*request, inference.get());
  request.reset();  // the inference holds the body
  IssueOrRefuse(read, std::move(inference), turn);
}

absl::StatusOr<std::shared_ptr<TfsInference>> TfsEndpoint::Begin(const PathNames& names,
                                                                 TfsMethod method,
                                                                 const HttpRequest& request,
                                                                 uint64_t other_requests) const {
  ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model, FindServable(*server_, names));
  RETURN_IF_ERROR(CheckTfsModel(model->config()));
  ASSIGN_OR_RETURN(BudgetUnits slot, server_->in_flight_requests()->TakeFairly(
                                         1, other_requests, ShareUse::kAdmission));
  // The version that serves stays the same if a path without one is answered by it.
  const int64_t version =
      names.version.empty() && names.label.empty() ? kLatestVersion : model->config().version;
  auto inference =
      std::make_shared<TfsInference>(std::move(model), version, method,
                                     TfsAnswerForm{non_finite_, AnswerCoding(request)}, executor_);
  inference->set_slot(std::move(slot));
  inference->Trace(tracing_, request);
  return inference;
}

absl::Status TfsEndpoint::Decompress(ContentCoding coding, HttpRequest* request,
                                     const TfsInference& inference) const {
  if (coding == ContentCoding::kIdentity) return absl::OkStatus();
  BodyDecompression body(coding, request->body(), /*aligned_offset=*/0, limits_.max_input_size,
                         server_->in_flight_bytes());
  absl::StatusOr<bool> done = false;
  while (done.ok() && !*done) {
    if (inference.cancelled()) return absl::CancelledError("the request was cancelled");
    done = body.Run(body.filled() + kPlainBytesPerStep);
  }
  RETURN_IF_ERROR(done.status());
  request->set_body(body.Finish());
  return absl::OkStatus();
}

absl::Status TfsEndpoint::Read(const HttpRequest& request, TfsInference* inference) const {
  RETURN_IF_ERROR(inference->Read(request.body(), limits_, server_->in_flight_bytes()));
  return inference->Forward(header_forwarding_, request.headers());
}

void TfsEndpoint::IssueOrRefuse(const absl::Status& read, std::shared_ptr<TfsInference> inference,
                                InlineTurn* turn) {
  if (!read.ok()) return inference->Refuse(read);
  TfsInference::Issue(std::move(inference), server_, &allocator_, turn);
}

namespace {

template <TfsMethod method>
void CallTfs(HttpEndpoints* endpoints, HttpCall call, HttpResponder responder) {
  endpoints->tfs.Handle(call.names, method, std::move(call.request), std::move(responder));
}

absl::StatusOr<std::string> Status(const Server& server, const PathNames& names) {
  ASSIGN_OR_RETURN(const TfsModelSpec spec, AskedModel(names));
  ASSIGN_OR_RETURN(const std::optional<int64_t> version, TfsVersion(server, spec));
  ASSIGN_OR_RETURN(const std::vector<IndexEntry> index,
                   server.RepositoryIndex(/*ready_only=*/false));
  return TfsStatusJson(index, spec.name, version);
}

HttpResponse TfsStatusResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  auto json = Status(*endpoints.server, call.names);
  return json.ok() ? JsonResponse(*std::move(json)) : StatusResponse(json.status());
}

HttpResponse TfsMetadataResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  const auto model = FindServable(*endpoints.server, call.names);
  return model.ok() ? JsonResponse(TfsMetadataJson((*model)->config()))
                    : StatusResponse(model.status());
}

HttpResponse TfsDocumentResponse(const HttpEndpoints& endpoints, const HttpCall& /*call*/) {
  const std::shared_ptr<const std::string> text = endpoints.openapi->Get();
  HttpResponse response = JsonResponse("");
  response.chunks.push_back({text->data(), text->size(), text});
  return response;
}

constexpr RouteDoc kStatusDoc{"States of the model's versions", "TfsModelStatus"};
constexpr RouteDoc kMetadataDoc{"Signatures of the model", "TfsModelMetadata"};
constexpr RouteDoc kPredictDoc{"Inference with tensors in rows or columns", "TfsPredictResponse",
                               "TfsPredictRequest"};
constexpr RouteDoc kClassifyDoc{"Classes and scores of examples", "TfsClassifyResponse",
                                "TfsExamplesRequest"};
constexpr RouteDoc kRegressDoc{"Values of examples", "TfsRegressResponse", "TfsExamplesRequest"};

constexpr HttpRoute Report(absl::string_view pattern, HttpRouteHandler handle,
                           const RouteDoc& doc) {
  return {pattern, RouteMethods::kGet, ApiGroup::kMetadata, handle, doc};
}
constexpr HttpRoute Awaiting(HttpRoute route) {
  route.awaits_model = true;
  return route;
}
constexpr HttpRoute Inference(absl::string_view pattern, HttpRouteHandler handle, RouteDoc doc) {
  doc.may_be_unsupported = true;
  return Awaiting(
      {pattern, RouteMethods::kPost, ApiGroup::kInference, handle, doc, RouteBody::kInput});
}

constexpr HttpRoute kTfsRoutes[] = {
    Report("/v1/openapi.json", &RespondLater<TfsDocumentResponse>, {"This document", "Document"}),
    Report("/v1/models/{model}[/versions/{version}]", &RespondLater<TfsStatusResponse>, kStatusDoc),
    Report("/v1/models/{model}/labels/{label}", &RespondLater<TfsStatusResponse>, kStatusDoc),
    Awaiting(Report("/v1/models/{model}[/versions/{version}]/metadata",
                    &RespondLater<TfsMetadataResponse>, kMetadataDoc)),
    Awaiting(Report("/v1/models/{model}/labels/{label}/metadata",
                    &RespondLater<TfsMetadataResponse>, kMetadataDoc)),
    Inference("/v1/models/{model}[/versions/{version}]:predict", &CallTfs<TfsMethod::kPredict>,
              kPredictDoc),
    Inference("/v1/models/{model}/labels/{label}:predict", &CallTfs<TfsMethod::kPredict>,
              kPredictDoc),
    Inference("/v1/models/{model}[/versions/{version}]:classify", &CallTfs<TfsMethod::kClassify>,
              kClassifyDoc),
    Inference("/v1/models/{model}/labels/{label}:classify", &CallTfs<TfsMethod::kClassify>,
              kClassifyDoc),
    Inference("/v1/models/{model}[/versions/{version}]:regress", &CallTfs<TfsMethod::kRegress>,
              kRegressDoc),
    Inference("/v1/models/{model}/labels/{label}:regress", &CallTfs<TfsMethod::kRegress>,
              kRegressDoc),
};

}  // namespace

absl::Span<const HttpRoute> TfsRoutes() { return kTfsRoutes; }

}  // namespace nereid
