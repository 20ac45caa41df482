// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/generate_inference.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <new>
#include <string>
#include <utility>

#include "base/log.h"
#include "frontends/codec/generate_request_reader.h"
#include "frontends/codec/generate_response_writer.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/http/charged_text.h"
#include "frontends/http/off_loop.h"
#include "frontends/http/status_map.h"
#include "frontends/transport/io_loop.h"

namespace nereid {
namespace {

constexpr char kEventStream[] = "text/event-stream; charset=utf-8";
constexpr absl::string_view kEventBegin = "data: ";
constexpr absl::string_view kEventEnd = "\n\n";
constexpr char kNotOneResponse[] =
    "generate expects model to produce exactly 1 response, use generate stream for model that "
    "generates various number of responses";

using Event = GenerateInference::Event;

Event ErrorEvent(const absl::Status& error) {
  const HttpResponse response = StatusResponse(error);
  return {absl::StrCat(kEventBegin, response.text, kEventEnd), response.status, error};
}

Event MakeEvent(const InferResponse& response, NonFinite non_finite) {
  if (!response.status().ok()) return ErrorEvent(response.status());
  Event event;
  event.text = std::string(kEventBegin);
  const absl::Status written = AppendGenerateResponse(response, non_finite, &event.text);
  if (!written.ok()) return ErrorEvent(written);
  absl::StrAppend(&event.text, kEventEnd);
  return event;
}

bool TakesLongToWrite(const InferResponse& response) {
  return response.status().ok() && EstimateGenerateSize(response) > kMostInlineAnswerBytes;
}

}  // namespace

absl::Status GenerateInference::Read(std::shared_ptr<ReceivedBody> body,
                                     const RequestLimits& limits, Budget* budget) {
  body_ = std::move(body);
  in_flight_bytes_ = budget;
  buffers_.ChargeTo(budget, holder_);
  absl::Status read = ReadGenerateRequest(body_ == nullptr ? absl::string_view() : body_->text(),
                                          limits, draft(), &buffers_, &non_finite_);
  // Nobody else takes the responder before the request is issued.
  std::optional<HttpResponder> responder = TakeResponder();
  responder->NoteRequest([this] { return AboutRequest(*draft(), traced_); });
  MutexLock lock(&mu_);
  responder_ = std::move(responder);
  return read;
}

void GenerateInference::Attach(HttpResponder responder) {
  responder.SetOnCancel([weak = weak_from_this()] {
    if (const auto inference = weak.lock()) inference->Cancel();
  });
  holder_ = responder.holder();
  MutexLock lock(&mu_);
  responder_.emplace(std::move(responder));
}

void GenerateInference::Issue(std::shared_ptr<GenerateInference> inference, Server* server,
                              const OutputAllocator* allocator, InlineTurn* turn) {
  InferRequest* const request = inference->draft();
  if (!request->model()->config().decoupled) request->set_inline_turn(turn);
  Outputs outputs(allocator);
  outputs.holder = inference->holder_;
  if (inference->events_ != nullptr) outputs.credit = inference->events_->credit();
  const absl::Status issued = Flight::Issue(&inference, std::move(outputs), server);
  if (!issued.ok()) inference->Refuse(issued);
}

void GenerateInference::Refuse(const absl::Status& error) {
  // Everything that the request holds is returned before the client can see the answer.
  Drop();
  HttpResponse refusal = Failure(error);
  NoteSendingOf(&refusal);
  TakeResponder()->Complete(std::move(refusal));
}

std::optional<HttpResponder> GenerateInference::TakeResponder() {
  std::optional<HttpResponder> responder;
  MutexLock lock(&mu_);
  responder.swap(responder_);
  return responder;
}

void GenerateInference::OnReleased() {
  // Frees the input bytes now, because the client may take long to receive the answer.
  buffers_.Clear();
  body_.reset();
}

void GenerateInference::OnResponse(std::unique_ptr<InferResponse> response, bool is_final) {
  if (traced_ != nullptr && response != nullptr) traced_->Note(kResponseComplete);
  if (events_ == nullptr) {
    if (response_.Add(std::move(response), is_final)) Answer();
    return;
  }
  // Not decoupled: executed by this thread, or found in the cache.
  if (is_final && transport::IoLoop::OnAnyLoop() && response != nullptr &&
      TakesLongToWrite(*response)) {
    return ReceiveElsewhere(std::move(response));
  }
  ReceiveEvent(std::move(response), is_final);
}

template <typename Job>
bool GenerateInference::RunElsewhere(Job* job) {
  try {
    return compression_->TryRun(std::move(*job));
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void GenerateInference::Answer() {
  if (response_.count() != 1 || !TakesLongToWrite(*response_.first())) {
    return TakeResponder()->CompleteWith(
        [self = shared_from_this()] { return self->MakeAnswer(); });
  }
  auto here = [self = shared_from_this()] { self->TakeResponder()->Complete(self->MakeAnswer()); };
  if (RunElsewhere(&here)) return;
  // The queue is full. A thread of the model, which makes answers faster than they can be written,
  // writes this one.
  if (!transport::IoLoop::OnAnyLoop()) return here();
  HttpResponse refusal = Failure(TooManyLargeAnswers());
  NoteSendingOf(&refusal);
  TakeResponder()->Complete(std::move(refusal));
}

HttpResponse GenerateInference::MakeAnswer() {
  HttpResponse answer = MakeResponse();
  AddLoadMetrics(load_metrics_, &answer);
  NoteSendingOf(&answer);
  return answer;
}

void GenerateInference::NoteSendingOf(HttpResponse* response) const {
  // A copy: other responses of the request may be noted at the same time.
  TracedRequestPtr traced = traced_;
  NoteSending(&traced, response);
}

HttpResponse GenerateInference::Failure(const absl::Status& error) const {
  NoteFailure(traced_, error);
  return StatusResponse(error);
}

HttpResponse GenerateInference::MakeResponse() {
  if (response_.count() != 1) {
    // The status is that of the first response, as clients of the protocol expect.
    const InferResponse* const first = response_.first();
    const bool good = first == nullptr || first->status().ok();
    NoteFailure(traced_, absl::InternalError(kNotOneResponse));
    return MakeErrorResponse(good ? 200 : HttpStatusOf(first->status().code()), kNotOneResponse);
  }
  const absl::StatusOr<std::unique_ptr<InferResponse>> response = response_.Take();
  if (!response.ok()) return Failure(response.status());
  std::string json;
  BudgetUnits units;
  absl::Status written =
      ChargeText(in_flight_bytes_, holder_, EstimateGenerateSize(**response), &units);
  if (written.ok()) written = AppendGenerateResponse(**response, non_finite_, &json);
  if (written.ok()) written = ChargeText(in_flight_bytes_, holder_, json.capacity(), &units);
  if (!written.ok()) return Failure(written);
  HttpResponse http = JsonResponse(std::move(json));
  http.units = std::move(units);
  return http;
}

void GenerateInference::ReceiveEvent(std::unique_ptr<InferResponse> response, bool is_final) {
  const bool empty = response == nullptr;
  int http_status = 200;
  if (!empty && !events_->aborted()) {
    Event event = MakeEvent(*response, non_finite_);
    NoteFailure(traced_, event.error);
    http_status = event.http_status;
    SendEvent(std::move(event), std::move(response));
  }
  if (is_final) events_->End();
  if (!empty || is_final) StartStream(http_status);
}

void GenerateInference::SendEvent(Event event, std::unique_ptr<InferResponse> response) {
  // The stream has no room for more, and none for what it holds.
  if (events_->credit() != nullptr && absl::IsResourceExhausted(event.error)) {
    (void)events_->EndWith({std::move(event.text), nullptr});
    return;
  }
  const absl::Status sent =
      AppendCharged(events_.get(), std::move(event.text), &response, in_flight_bytes_, holder_);
  if (sent.ok()) return;
  event = ErrorEvent(sent);
  if (!events_->EndWith({std::move(event.text), nullptr})) return;  // an earlier response did it
  LOG_WARNING << LogAbout{response->id(), response->model_name(),
                          traced_ == nullptr ? "" : traced_->LogId()}
              << sent.message();
  NoteFailure(traced_, sent);
  Cancel();
}

void GenerateInference::ReceiveElsewhere(std::unique_ptr<InferResponse> response) {
  struct Job {
    std::shared_ptr<GenerateInference> self;
    std::unique_ptr<InferResponse> response;
    void operator()() { self->ReceiveEvent(std::move(response), /*is_final=*/true); }
  };
  Job job{shared_from_this(), std::move(response)};
  if (RunElsewhere(&job)) return;
  job.response.reset();
  Event refusal = ErrorEvent(TooManyLargeAnswers());
  NoteFailure(traced_, refusal.error);
  events_->Append({std::move(refusal.text), nullptr});
  events_->End();
  StartStream(refusal.http_status);
}

void GenerateInference::StartStream(int http_status) {
  std::optional<HttpResponder> responder = TakeResponder();
  if (!responder.has_value()) return;
  HttpResponse response;
  response.status = http_status;
  response.content_type = kEventStream;
  response.body_stream = events_;
  AddLoadMetrics(load_metrics_, &response);
  NoteSendingOf(&response);
  responder->Complete(std::move(response));
}

}  // namespace nereid
