#include "frontends/http/infer_endpoint.h"

#include <absl/strings/ascii.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/compression.h"
#include "frontends/codec/length_headers.h"
#include "frontends/http/http_inference.h"
#include "frontends/http/model_endpoints.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

// The body as the client meant it, and how much of it is JSON.
struct PlainBody {
  std::shared_ptr<HttpBody> body;
  std::optional<size_t> header_length;
};

// What comes out lands where it stays, and is charged as it grows.
absl::StatusOr<std::shared_ptr<HttpBody>> DecompressBody(ContentCoding coding,
                                                         const HttpRequest& request,
                                                         uint64_t max_size, Budget* budget) {
  // Where the JSON ends is not known to be right yet; a wrong number only costs the alignment.
  size_t split = 0;
  if (const auto header = request.FindHeader(kHeaderLengthHeader)) {
    split = ParseInferenceHeaderLength(*header, max_size).value_or(0);
  }
  const uint64_t held_besides = request.body() == nullptr ? 0 : request.body()->charged();
  std::shared_ptr<HttpBody> body;
  const auto make_room = [&](uint64_t filled, uint64_t wish) -> absl::StatusOr<absl::Span<char>> {
    const uint64_t have = body == nullptr ? 0 : body->capacity();
    const uint64_t held = held_besides + (body == nullptr ? 0 : body->charged());
    ASSIGN_OR_RETURN(BudgetUnits units,
                     budget->TakeFairly(wish - have, held, ShareUse::kAdmission));
    if (body == nullptr) {
      body = HttpBody::Reserve(wish, split);
      if (body == nullptr) return absl::UnavailableError("out of memory for the request body");
    } else {
      body->Extend(filled - body->size());
      if (!body->Grow(wish)) return absl::UnavailableError("out of memory for the request body");
    }
    body->Grant(wish - have, std::move(units));
    return absl::MakeSpan(body->mutable_end() - body->size(), body->capacity());
  };
  ASSIGN_OR_RETURN(const uint64_t size,
                   Decompress(coding, request.body_text(), max_size, make_room));
  body->Extend(size - body->size());
  body->Seal();
  return body;
}

absl::StatusOr<PlainBody> ReadBody(ContentCoding coding, const HttpRequest& request,
                                   uint64_t max_input_size, Budget* budget) {
  PlainBody plain;
  plain.body = request.body();
  if (coding != ContentCoding::kIdentity) {
    ASSIGN_OR_RETURN(plain.body, DecompressBody(coding, request, max_input_size, budget));
  }
  if (const auto header = request.FindHeader(kHeaderLengthHeader)) {
    const size_t size = plain.body == nullptr ? 0 : plain.body->size();
    ASSIGN_OR_RETURN(plain.header_length, ParseInferenceHeaderLength(*header, size));
  }
  return plain;
}

absl::StatusOr<std::shared_ptr<ServingModel>> FindModel(const Server& server, const Route& route,
                                                        int64_t version) {
  ASSIGN_OR_RETURN(auto model, server.FindModel(route.model, version));
  if (model->config().decoupled) {
    return absl::UnimplementedError(
        "HTTP end point doesn't support models with decoupled transaction policy");
  }
  return model;
}

}  // namespace

InferEndpoint::InferEndpoint(Server* server, const RequestLimits& limits)
    : server_(server), limits_(limits), allocator_(server->in_flight_bytes()) {}

void InferEndpoint::Handle(const Route& route, const HttpRequest& request,
                           HttpResponder responder) {
  const auto version = RouteVersion(route);
  if (!version.ok()) return responder.Complete(StatusResponse(version.status()));
  auto model = FindModel(*server_, route, *version);
  if (!model.ok()) return responder.Complete(StatusResponse(model.status()));
  // A connection has one request at a time.
  auto slot = server_->in_flight_requests()->TakeFairly(1, 0, ShareUse::kAdmission);
  if (!slot.ok()) return responder.Complete(StatusResponse(slot.status()));

  const auto coding = ParseContentEncoding(request.FindHeader("Content-Encoding").value_or(""));
  if (!coding.ok()) {
    HttpResponse refusal = StatusResponse(coding.status());
    refusal.headers.emplace_back("Accept-Encoding", "gzip, deflate");
    return responder.Complete(std::move(refusal));
  }
  auto body = ReadBody(*coding, request, limits_.max_input_size, server_->in_flight_bytes());
  if (!body.ok()) return responder.Complete(StatusResponse(body.status()));

  const auto accepted = request.FindHeader("Accept-Encoding");
  const auto inference = std::make_shared<HttpInference>(
      *std::move(model), *version,
      accepted.has_value() ? ChooseContentCoding(*accepted) : ContentCoding::kIdentity);
  const absl::Status read = inference->Read(std::move(body->body), body->header_length, limits_,
                                            server_->in_flight_bytes());
  if (!read.ok()) return responder.Complete(StatusResponse(read));
  inference->set_slot(*std::move(slot));
  inference->Issue(server_, &allocator_, std::move(responder));
}

}  // namespace nereid
