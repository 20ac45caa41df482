#include "frontends/http/generate_inference.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <string>
#include <utility>

#include "frontends/codec/generate_request_reader.h"
#include "frontends/codec/generate_response_writer.h"
#include "frontends/http/charged_text.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

constexpr char kEventStream[] = "text/event-stream; charset=utf-8";
constexpr absl::string_view kEventBegin = "data: ";
constexpr absl::string_view kEventEnd = "\n\n";
constexpr char kNotOneResponse[] =
    "generate expects model to produce exactly 1 response, use generate stream for model that "
    "generates various number of responses";

// One event, and the HTTP status of a stream that begins with it.
struct Event {
  std::string text;
  int http_status = 200;
};

Event ErrorEvent(const absl::Status& error) {
  const HttpResponse response = StatusResponse(error);
  return {absl::StrCat(kEventBegin, response.text, kEventEnd), response.status};
}

Event MakeEvent(const InferResponse& response) {
  if (!response.status().ok()) return ErrorEvent(response.status());
  Event event;
  event.text = std::string(kEventBegin);
  const absl::Status written = AppendGenerateResponse(response, &event.text);
  if (!written.ok()) return ErrorEvent(written);
  absl::StrAppend(&event.text, kEventEnd);
  return event;
}

}  // namespace

absl::Status GenerateInference::Read(std::shared_ptr<HttpBody> body, const RequestLimits& limits,
                                     Budget* budget) {
  body_ = std::move(body);
  in_flight_bytes_ = budget;
  buffers_.ChargeTo(budget, body_ == nullptr ? 0 : body_->charged());
  return ReadGenerateRequest(body_ == nullptr ? absl::string_view() : body_->text(), limits,
                             &request_, &buffers_);
}

void GenerateInference::Issue(Server* server, const OutputAllocator* allocator,
                              std::shared_ptr<HttpBodyStream> events, HttpResponder responder) {
  const std::shared_ptr<GenerateInference> self = shared_from_this();
  if (!request_.model()->config().decoupled) request_.set_inline_turn(responder.inline_turn());
  responder.SetOnCancel([weak = std::weak_ptr<GenerateInference>(self)] {
    if (const auto inference = weak.lock()) inference->Cancel();
  });
  events_ = std::move(events);
  {
    MutexLock lock(&mu_);
    responder_.emplace(std::move(responder));
  }
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

  const absl::Status issued = server->InferForClient(&request_);
  if (issued.ok()) return;  // both callbacks may have run already
  until_released_.reset();
  until_answered_.reset();
  TakeResponder()->Complete(StatusResponse(issued));
}

std::optional<HttpResponder> GenerateInference::TakeResponder() {
  std::optional<HttpResponder> responder;
  MutexLock lock(&mu_);
  responder.swap(responder_);
  return responder;
}

void GenerateInference::Cancel() {
  // Fails only for a request that was never issued and already has its answer.
  request_.Cancel().IgnoreError();
}

void GenerateInference::OnRelease(InferRequest*, uint32_t, const ReleaseTarget& target) {
  auto* const inference = static_cast<GenerateInference*>(target.userp);
  const std::shared_ptr<GenerateInference> self = std::move(inference->until_released_);
  // The input bytes are freed now, however long the client takes to receive the answer.
  self->request_.RemoveAllInputs();
  self->buffers_.Clear();
  self->body_.reset();
}

void GenerateInference::OnResponse(InferResponse* response, uint32_t flags,
                                   const ResponseTarget& target) {
  // The object keeps itself alive until the final response, which comes last.
  auto* const inference = static_cast<GenerateInference*>(target.userp);
  std::unique_ptr<InferResponse> owned(response);
  const bool is_final = (flags & kResponseCompleteFinal) != 0;
  std::shared_ptr<GenerateInference> self;
  if (is_final) self = std::move(inference->until_answered_);
  if (inference->events_ != nullptr) {
    inference->ReceiveEvent(std::move(owned), is_final);
  } else {
    inference->ReceiveOnly(std::move(owned), is_final);
  }
}

void GenerateInference::ReceiveOnly(std::unique_ptr<InferResponse> response, bool is_final) {
  if (response != nullptr) {
    MutexLock lock(&mu_);
    // A second response is a mistake; then only their number matters.
    if (++response_count_ == 1) response_ = std::move(response);
  }
  if (!is_final) return;
  TakeResponder()->CompleteWith([self = shared_from_this()] { return self->MakeResponse(); });
}

HttpResponse GenerateInference::MakeResponse() {
  uint32_t count;
  std::unique_ptr<InferResponse> response;
  {
    MutexLock lock(&mu_);
    count = response_count_;
    response = std::move(response_);
  }
  const bool good = response == nullptr || response->status().ok();
  if (count != 1) {
    // The status is that of the first response, as clients of the protocol expect.
    const int status = good ? 200 : HttpStatusOf(response->status().code());
    return MakeErrorResponse(status, kNotOneResponse);
  }
  if (!good) return StatusResponse(response->status());
  std::string json;
  BudgetUnits units;
  absl::Status written = AppendGenerateResponse(*response, &json);
  if (written.ok()) written = ChargeText(in_flight_bytes_, json.capacity(), &units);
  if (!written.ok()) return StatusResponse(written);
  HttpResponse http = JsonResponse(std::move(json));
  http.units = std::move(units);
  return http;
}

void GenerateInference::ReceiveEvent(std::unique_ptr<InferResponse> response, bool is_final) {
  const bool empty = response == nullptr;
  int http_status = 200;
  if (!empty && !events_->aborted()) {
    Event event = MakeEvent(*response);
    http_status = event.http_status;
    HttpBodyStream::Piece piece;
    // Bytes waiting for the client are charged like the response, or keep the response alive.
    auto units = in_flight_bytes_->TakeFairly(event.text.size(), 0, ShareUse::kAnswer);
    if (units.ok()) {
      piece.owner = std::make_shared<BudgetUnits>(*std::move(units));
      response.reset();
    } else {
      piece.owner = std::move(response);
    }
    piece.text = std::move(event.text);
    events_->Append(std::move(piece));
  }
  if (is_final) events_->End();
  if (!empty || is_final) StartStream(http_status);
  if (!empty && !is_final) events_->AwaitRoom();
}

void GenerateInference::StartStream(int http_status) {
  std::optional<HttpResponder> responder = TakeResponder();
  if (!responder.has_value()) return;
  HttpResponse response;
  response.status = http_status;
  response.content_type = kEventStream;
  response.body_stream = events_;
  responder->Complete(std::move(response));
}

}  // namespace nereid
