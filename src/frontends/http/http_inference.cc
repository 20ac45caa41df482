#include "frontends/http/http_inference.h"

#include <absl/strings/str_cat.h>

#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "frontends/codec/v2_request_reader.h"
#include "frontends/codec/v2_response_writer.h"
#include "frontends/http/charged_text.h"
#include "frontends/http/infer_endpoint.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

static_assert(HttpBody::kPadding >= kBodyPadding);

// A response on its way out: what the pieces of the HTTP body point into.
struct SentResponse {
  std::unique_ptr<InferResponse> response;
  ResponseBody body;
};

// Replaces the body by its compressed form. False if that fails, or `budget` does not pay for it:
// then the plain one is sent.
bool CompressBody(ContentCoding coding, Budget* budget, HttpResponse* response) {
  std::vector<absl::string_view> pieces = {response->text};
  uint64_t size = response->text.size();
  for (const HttpChunk& chunk : response->chunks) {
    pieces.emplace_back(static_cast<const char*>(chunk.data), chunk.size);
    size += chunk.size;
  }
  BudgetUnits units;
  if (!ChargeText(budget, CompressedBound(size), &units).ok()) return false;
  auto compressed = Compress(coding, pieces);
  if (!compressed.ok()) return false;
  if (!ChargeText(budget, compressed->capacity(), &units).ok()) return false;
  response->text = *std::move(compressed);
  response->units = std::move(units);
  response->chunks.clear();
  response->headers.emplace_back("Content-Encoding", ContentCodingName(coding));
  return true;
}

HttpResponse InferenceResponse(std::unique_ptr<InferResponse> response, ResponseBody body) {
  HttpResponse http;
  http.content_type = body.content_type();
  if (body.has_binary()) {
    http.headers.emplace_back(kHeaderLengthHeader, absl::StrCat(body.header_length()));
  }
  http.text = std::move(body.json);
  if (body.has_binary()) {
    auto sent = std::make_shared<SentResponse>();
    sent->response = std::move(response);
    sent->body = std::move(body);
    for (const absl::Span<const char> tensor : sent->body.tensors) {
      http.chunks.push_back({tensor.data(), tensor.size(), sent});
    }
  }
  return http;
}

}  // namespace

absl::Status HttpInference::Read(std::shared_ptr<HttpBody> body,
                                 std::optional<size_t> header_length, const RequestLimits& limits,
                                 Budget* budget) {
  static constexpr char kNoBody[kBodyPadding] = {};
  body_ = std::move(body);
  budget_ = budget;
  buffers_.ChargeTo(budget, body_ == nullptr ? 0 : body_->charged());
  V2RequestBody view;
  view.data = body_ == nullptr ? kNoBody : body_->data();
  view.size = body_ == nullptr ? 0 : body_->size();
  view.header_length = header_length;
  return ReadV2Request(view, limits, &request_, &buffers_, &formats_);
}

void HttpInference::Issue(Server* server, const OutputAllocator* allocator,
                          HttpResponder responder) {
  const std::shared_ptr<HttpInference> self = shared_from_this();
  request_.inline_turn = responder.inline_turn();
  responder.SetOnCancel([weak = std::weak_ptr<HttpInference>(self)] {
    if (const auto inference = weak.lock()) inference->Cancel();
  });
  responder_.emplace(std::move(responder));
  until_released_ = self;
  until_answered_ = self;

  ReleaseTarget release;
  release.fn = &OnRelease;
  release.userp = this;
  request_.set_release_target(release);
  ResponseTarget target;
  target.fn = &OnResponse;
  target.userp = this;
  target.allocator = allocator;
  request_.set_response_target(target);

  const absl::Status issued = server->Infer(&request_);
  if (issued.ok()) return;  // both callbacks may have run already
  until_released_.reset();
  until_answered_.reset();
  responder_->Complete(StatusResponse(issued));
}

void HttpInference::Cancel() {
  // Fails only for a request that was never issued, and that one has its answer.
  request_.Cancel().IgnoreError();
}

void HttpInference::OnRelease(InferRequest*, uint32_t, const ReleaseTarget& target) {
  auto* inference = static_cast<HttpInference*>(target.userp);
  const std::shared_ptr<HttpInference> self = std::move(inference->until_released_);
  // The input bytes go back now, however long the client takes to receive the answer.
  self->body_.reset();
  self->buffers_.Clear();
}

void HttpInference::OnResponse(InferResponse* response, uint32_t flags,
                               const ResponseTarget& target) {
  auto* inference = static_cast<HttpInference*>(target.userp);
  if (response != nullptr) inference->Receive(std::unique_ptr<InferResponse>(response));
  if ((flags & kResponseCompleteFinal) == 0) return;
  std::shared_ptr<HttpInference> self = std::move(inference->until_answered_);
  HttpResponder responder = *std::move(self->responder_);
  responder.CompleteWith([self = std::move(self)] { return self->MakeResponse(); });
}

void HttpInference::Receive(std::unique_ptr<InferResponse> response) {
  MutexLock lock(&mu_);
  // A second response is an error of the model; only their number is of interest then.
  if (++response_count_ == 1) response_ = std::move(response);
}

HttpResponse HttpInference::MakeResponse() {
  std::unique_ptr<InferResponse> response;
  {
    MutexLock lock(&mu_);
    if (response_count_ != 1) {
      return MakeErrorResponse(500,
                               absl::StrCat("expected a single response, got ", response_count_));
    }
    response = std::move(response_);
  }
  if (!response->status().ok()) return StatusResponse(response->status());
  auto written = WriteResponse(std::move(response));
  return written.ok() ? *std::move(written) : StatusResponse(written.status());
}

absl::StatusOr<HttpResponse> HttpInference::WriteResponse(std::unique_ptr<InferResponse> response) {
  BudgetUnits units;
  RETURN_IF_ERROR(ChargeText(budget_, EstimateJsonSize(*response, formats_), &units));
  ASSIGN_OR_RETURN(ResponseBody body, WriteV2Response(*response, formats_));
  RETURN_IF_ERROR(ChargeText(budget_, body.json.capacity(), &units));
  HttpResponse http = InferenceResponse(std::move(response), std::move(body));
  http.units = std::move(units);
  if (response_coding_ != ContentCoding::kIdentity) CompressBody(response_coding_, budget_, &http);
  return http;
}

}  // namespace nereid
