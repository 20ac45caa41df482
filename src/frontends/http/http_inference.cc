#include "frontends/http/http_inference.h"

#include <absl/cleanup/cleanup.h>
#include <absl/functional/function_ref.h>
#include <absl/strings/str_cat.h>

#include <new>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "frontends/codec/v2_request_reader.h"
#include "frontends/codec/v2_response_writer.h"
#include "frontends/http/charged_text.h"
#include "frontends/http/infer_endpoint.h"
#include "frontends/http/inline_limits.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

static_assert(HttpBody::kPadding >= kBodyPadding);

// A response being sent: the memory that the pieces of the HTTP body point into.
struct SentResponse {
  std::unique_ptr<InferResponse> response;
  ResponseBody body;
};

// Replaces the body by its compressed form. False if that fails, if it is not `wanted` any more, or
// if `budget` refuses; then the plain body is sent.
bool CompressBody(ContentCoding coding, Budget* budget, absl::FunctionRef<bool()> wanted,
                  HttpResponse* response) {
  if (!wanted()) return false;
  std::vector<absl::string_view> pieces = {response->text};
  uint64_t size = response->text.size();
  for (const HttpChunk& chunk : response->chunks) {
    pieces.emplace_back(static_cast<const char*>(chunk.data), chunk.size);
    size += chunk.size;
  }
  BudgetUnits units;
  if (!ChargeText(budget, CompressedBound(size), &units).ok()) return false;
  auto compressed = Compress(coding, pieces, wanted);
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

void HttpInference::Attach(HttpResponder responder) {
  responder.SetOnCancel([weak = weak_from_this()] {
    if (const auto inference = weak.lock()) inference->Cancel();
  });
  responder_.emplace(std::move(responder));
}

void HttpInference::Issue(Server* server, const OutputAllocator* allocator, InlineTurn* turn) {
  const std::shared_ptr<HttpInference> self = shared_from_this();
  request_.set_inline_turn(turn);
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

  // Also if there is no memory for the answer.
  absl::Cleanup not_issued = [this] {
    until_released_.reset();
    until_answered_.reset();
  };
  const absl::Status issued = server->InferForClient(&request_);
  if (!issued.ok()) return Refuse(issued);
  std::move(not_issued).Cancel();
  // Both callbacks may have run already.
  bool cancelled = false;
  {
    MutexLock lock(&mu_);
    issued_ = true;
    cancelled = cancelled_;
  }
  if (cancelled) request_.Cancel().IgnoreError();
}

void HttpInference::Refuse(const absl::Status& error) {
  // Everything that the request holds is returned before the client can see the answer.
  body_.reset();
  buffers_.Clear();
  slot_.Return();
  responder_->Complete(StatusResponse(error));
}

void HttpInference::Cancel() {
  {
    MutexLock lock(&mu_);
    cancelled_ = true;
    if (!issued_) return;  // Issue will check it
  }
  // Fails for a request that has ended.
  request_.Cancel().IgnoreError();
}

bool HttpInference::cancelled() const {
  MutexLock lock(&mu_);
  return cancelled_;
}

void HttpInference::OnRelease(InferRequest*, uint32_t, const ReleaseTarget& target) {
  auto* inference = static_cast<HttpInference*>(target.userp);
  const std::shared_ptr<HttpInference> self = std::move(inference->until_released_);
  // The input bytes are freed now, however long the client takes to receive the answer.
  self->body_.reset();
  self->buffers_.Clear();
}

void HttpInference::OnResponse(InferResponse* response, uint32_t flags,
                               const ResponseTarget& target) {
  auto* inference = static_cast<HttpInference*>(target.userp);
  if (response != nullptr) inference->Receive(std::unique_ptr<InferResponse>(response));
  if ((flags & kResponseCompleteFinal) == 0) return;
  const std::shared_ptr<HttpInference> self = std::move(inference->until_answered_);
  self->Answer();
}

void HttpInference::Answer() {
  if (TakesLongToCompress()) {
    if (CompressElsewhere()) return;
    // A finished result is not refused: it is sent uncompressed.
    response_coding_ = ContentCoding::kIdentity;
  }
  AnswerOnIoThread();
}

bool HttpInference::CompressElsewhere() {
  try {
    return compression_->TryRun([self = shared_from_this()] { self->CompressAndAnswer(); });
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void HttpInference::CompressAndAnswer() {
  if (!cancelled()) return responder_->Complete(MakeResponse());
  // Built only if the client can still receive it: the client may have closed only its sending
  // side.
  response_coding_ = ContentCoding::kIdentity;
  AnswerOnIoThread();
}

void HttpInference::AnswerOnIoThread() {
  responder_->CompleteWith([self = shared_from_this()] { return self->MakeResponse(); });
}

bool HttpInference::TakesLongToCompress() const {
  if (response_coding_ == ContentCoding::kIdentity) return false;
  MutexLock lock(&mu_);
  return response_count_ == 1 && response_->status().ok() &&
         EstimateBodySize(*response_, formats_) > kMostInlineAnswerBytes;
}

void HttpInference::Receive(std::unique_ptr<InferResponse> response) {
  MutexLock lock(&mu_);
  // A second response is an error of the model; then only their number matters.
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
  if (response_coding_ != ContentCoding::kIdentity) {
    CompressBody(
        response_coding_, budget_, [this] { return !cancelled(); }, &http);
  }
  return http;
}

}  // namespace nereid
