// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/infer_endpoint.h"

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/body_decompression.h"
#include "frontends/codec/compression.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/codec/length_headers.h"
#include "frontends/http/compress_body.h"
#include "frontends/http/http_endpoints.h"
#include "frontends/http/http_inference.h"
#include "frontends/http/model_version.h"
#include "frontends/http/off_loop.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

// The end of the plain body's JSON as the header says, not verified. With a wrong number, the
// tensors are only not aligned.
size_t SplitOf(const HttpRequest& request, uint64_t max_size) {
  const auto header = request.FindHeader(kHeaderLengthHeader);
  return header.has_value() ? ParseInferenceHeaderLength(*header, max_size).value_or(0) : 0;
}

// The length of a plain body's JSON as the header says, not verified. Read refuses a wrong number
// without delay, so it needs no other thread.
size_t JsonSize(const HttpRequest& request) {
  const size_t size = request.body_text().size();
  const auto header = request.FindHeader(kHeaderLengthHeader);
  return header.has_value() ? ParseInferenceHeaderLength(*header, size).value_or(0) : size;
}

absl::StatusOr<std::shared_ptr<ServingModel>> FindModel(const Server& server,
                                                        const PathNames& names, int64_t version) {
  std::string decoded;
  ASSIGN_OR_RETURN(auto model, server.FindModel(names.model.Decoded(&decoded), version));
  if (model->config().decoupled) {
    return absl::UnimplementedError(
        "HTTP end point doesn't support models with decoupled transaction policy");
  }
  return model;
}

// Before there is an inference.
void RefuseAtOnce(const absl::Status& error, HttpResponder* responder) {
  NoteFailure(nullptr, error);
  responder->Complete(StatusResponse(error));
}

}  // namespace

struct InferEndpoint::Compressed {
  std::unique_ptr<HttpRequest> request;
  BodyDecompression body;
  std::shared_ptr<HttpInference> inference;
};

InferEndpoint::InferEndpoint(Server* server, ThreadPool* compression,
                             const HttpFrontendOptions& options)
    : server_(server),
      compression_(compression),
      limits_(options.limits),
      non_finite_(options.non_finite),
      shared_memory_(options.shared_memory),
      header_forwarding_(options.header_forwarding),
      tracing_(options.tracing),
      allocators_(server->in_flight_bytes()) {}

void InferEndpoint::Handle(const PathNames& names, std::unique_ptr<HttpRequest> request,
                           HttpResponder responder) {
  const auto version = VersionOf(names);
  if (!version.ok()) return RefuseAtOnce(version.status(), &responder);
  auto model = FindModel(*server_, names, *version);
  if (!model.ok()) return RefuseAtOnce(model.status(), &responder);
  auto slot = server_->in_flight_requests()->TakeFairly(1, responder.other_requests(),
                                                        ShareUse::kAdmission);
  if (!slot.ok()) return RefuseAtOnce(slot.status(), &responder);

  const auto coding = ParseContentEncoding(request->FindHeader("Content-Encoding").value_or(""));
  if (!coding.ok()) {
    NoteFailure(nullptr, coding.status());
    return responder.Complete(CodingRefusal(coding.status()));
  }
  auto inference = std::make_shared<HttpInference>(*std::move(model), *version,
                                                   AnswerCoding(*request), compression_);
  inference->set_slot(*std::move(slot));
  inference->set_non_finite(non_finite_);
  inference->Trace(tracing_, *request);
  InlineTurn* const turn = responder.inline_turn();
  inference->Attach(std::move(responder));
  if (*coding == ContentCoding::kIdentity) {
    if (JsonSize(*request) > kMostInlineJsonBytes) {
      return ReadElsewhere(std::move(request), std::move(inference));
    }
    const absl::Status read = Read(*request, inference.get());
    request.reset();  // the inference holds the body
    return IssueOrRefuse(read, std::move(inference), turn);
  }
  const size_t split = SplitOf(*request, limits_.max_input_size);
  std::shared_ptr<ReceivedBody> body = request->body();
  std::unique_ptr<Compressed> compressed(
      new Compressed{std::move(request),
                     BodyDecompression(*coding, std::move(body), split, limits_.max_input_size,
                                       server_->in_flight_bytes()),
                     std::move(inference)});
  HandleCompressed(std::move(compressed), turn);
}

void InferEndpoint::ReadElsewhere(std::unique_ptr<HttpRequest> request,
                                  std::shared_ptr<HttpInference> inference) {
  ReadOffLoop(
      compression_, std::move(request), std::move(inference),
      [this](const HttpRequest& given, HttpInference* into) { return Read(given, into); },
      [this](const absl::Status& read, std::shared_ptr<HttpInference> issued) {
        IssueOrRefuse(read, std::move(issued), /*turn=*/nullptr);
      });
}

void InferEndpoint::HandleCompressed(std::unique_ptr<Compressed> compressed, InlineTurn* turn) {
  absl::StatusOr<bool> done = false;
  if (compressed->request->body_text().size() <= kMostInlineCompressedBytes) {
    done = compressed->body.Run(kMostInlinePlainBytes);
  }
  if (done.ok() && !*done) return DecompressElsewhere(std::move(compressed));
  absl::Status read = done.status();
  std::shared_ptr<HttpInference> inference = std::move(compressed->inference);
  if (read.ok()) {
    compressed->request->set_body(compressed->body.Finish());
    if (JsonSize(*compressed->request) > kMostInlineJsonBytes) {
      return ReadElsewhere(std::move(compressed->request), std::move(inference));
    }
    read = Read(*compressed->request, inference.get());
  }
  compressed.reset();
  IssueOrRefuse(read, std::move(inference), turn);
}

void InferEndpoint::DecompressElsewhere(std::unique_ptr<Compressed> compressed) {
  const std::shared_ptr<HttpInference> inference = compressed->inference;
  const bool taken = compression_->TryRun(
      [this, job = std::move(compressed)]() mutable { Continue(std::move(job)); });
  if (!taken) inference->Refuse(TooManyLargeBodies());
}

void InferEndpoint::Continue(std::unique_ptr<Compressed> compressed) {
  std::shared_ptr<HttpInference> inference = std::move(compressed->inference);
  BodyDecompression& body = compressed->body;
  absl::StatusOr<bool> done = false;
  while (done.ok() && !*done && !inference->cancelled()) {
    done = body.Run(body.filled() + kPlainBytesPerStep);
  }
  absl::Status read = done.status();
  if (read.ok() && *done) {
    compressed->request->set_body(body.Finish());
    read = Read(*compressed->request, inference.get());
  }
  if (read.ok() && inference->cancelled()) read = absl::CancelledError("the request was cancelled");
  compressed.reset();
  IssueOrRefuse(read, std::move(inference), /*turn=*/nullptr);
}

absl::Status InferEndpoint::Read(const HttpRequest& request, HttpInference* inference) const {
  std::optional<size_t> header_length;
  if (const auto header = request.FindHeader(kHeaderLengthHeader)) {
    ASSIGN_OR_RETURN(header_length,
                     ParseInferenceHeaderLength(*header, request.body_text().size()));
  }
  RETURN_IF_ERROR(inference->Read(request.body(), header_length, limits_,
                                  server_->in_flight_bytes(), shared_memory_));
  return inference->Forward(header_forwarding_, request.headers());
}

void InferEndpoint::IssueOrRefuse(const absl::Status& read,
                                  std::shared_ptr<HttpInference> inference, InlineTurn* turn) {
  if (!read.ok()) return inference->Refuse(read);
  HttpInference::Issue(std::move(inference), server_, allocators_, turn);
}

namespace {

void Infer(HttpEndpoints* endpoints, HttpCall call, HttpResponder responder) {
  endpoints->infer.Handle(call.names, std::move(call.request), std::move(responder));
}

constexpr HttpRoute kInferRoutes[] = {
    {"/v2/models/{model}[/versions/{version}]/infer",
     RouteMethods::kPost,
     ApiGroup::kInference,
     &Infer,
     {"Inference", "InferResponse", "InferRequest", BodyForm::kTensors, false, true},
     RouteBody::kAny,
     /*awaits_model=*/true},
};

}  // namespace

absl::Span<const HttpRoute> InferRoutes() { return kInferRoutes; }

}  // namespace nereid
