// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/openai_inference.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <new>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "frontends/codec/generate_response_writer.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/codec/json_parse.h"
#include "frontends/http/charged_text.h"
#include "frontends/http/forwarded_headers.h"
#include "frontends/http/off_loop.h"
#include "frontends/http/status_map.h"
#include "frontends/openai/openai_error.h"
#include "frontends/tracing/span_ids.h"
#include "frontends/transport/io_loop.h"

namespace nereid {
namespace {

constexpr char kOpenAiEvents[] = "text/event-stream; charset=utf-8";

const char* IdPrefix(OpenAiRoute route) {
  switch (route) {
    case OpenAiRoute::kCompletions:
      return "cmpl-";
    case OpenAiRoute::kChat:
      return "chatcmpl-";
    case OpenAiRoute::kEmbeddings:
      return "embd-";
  }
  return "";
}

}  // namespace

HttpResponse OpenAiErrorResponse(const absl::Status& error) {
  const int status = HttpStatusOf(error.code());
  HttpResponse response = JsonResponse(OpenAiErrorJson(status, error));
  response.status = status;
  AddRetryAfter(error, &response);
  return response;
}

void OpenAiInference::Attach(HttpResponder responder) {
  responder.SetOnCancel([weak = weak_from_this()] {
    if (const auto inference = weak.lock()) inference->Cancel();
  });
  holder_ = responder.holder();
  MutexLock lock(&mu_);
  responder_.emplace(std::move(responder));
}

// ---- The way in

absl::Status OpenAiInference::Read(const HttpRequest& request) {
  Budget* const budget = around_.server->in_flight_bytes();
  body_ = request.body();
  buffers_.ChargeTo(budget, holder_);
  const absl::string_view text = request.body_text();
  if (text.size() > around_.limits.max_input_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "request JSON size of ", text.size(), " bytes exceeds the maximum allowed input size of ",
        around_.limits.max_input_size, " bytes. Use --http-max-input-size to increase the limit."));
  }
  JsonTree tree;
  RETURN_IF_ERROR(ParseJson(text, around_.limits.max_json_depth, buffers_.parse_budget(), &tree));
  RETURN_IF_ERROR(Begin(tree, request));
  return ForwardHeaders(around_.header_forwarding, request.headers(), draft());
}

absl::Status OpenAiInference::Begin(const JsonValue& body, const HttpRequest& request) {
  ASSIGN_OR_RETURN(std::string name, OpenAiModelName(body));
  auto found = around_.server->FindModel(name, kLatestVersion);
  if (!found.ok()) {
    return absl::IsNotFound(found.status()) ? WithOpenAiCode(found.status(), "model_not_found")
                                            : found.status();
  }
  const bool decoupled = (*found)->config().decoupled;
  InferRequest* const made = Draft(*std::move(found), kLatestVersion);
  traced_ = BeginHttpTrace(around_.tracing, request, made);
  OpenAiAnswer::About about;
  about.id = absl::StrFormat("%s%016x%016x", IdPrefix(route_), RandomBits(), RandomBits());
  about.model = std::move(name);
  about.created = static_cast<int64_t>(around_.server->clock()->WallMillis() / 1000);
  made->set_id(about.id);
  // Nobody else takes the responder before the request is issued.
  std::optional<HttpResponder> responder = TakeResponder();
  responder->NoteRequest([&] { return AboutRequest(*made, traced_); });
  {
    MutexLock lock(&mu_);
    responder_ = std::move(responder);
  }
  ASSIGN_OR_RETURN(const OpenAiModel model, OpenAiModel::Of(made->model()->config()));
  OpenAiSettings settings;
  RETURN_IF_ERROR(ReadOpenAiRequest(route_, body, model, made, &buffers_, &settings));
  {
    MutexLock lock(&mu_);
    answer_.emplace(route_, settings, model, std::move(about));
  }
  if (settings.stream) BeginEvents(decoupled);
  return absl::OkStatus();
}

void OpenAiInference::BeginEvents(bool decoupled) {
  std::shared_ptr<ResponseCredit> credit;
  if (decoupled) {
    credit = std::make_shared<ResponseCredit>(std::make_shared<ResponseCredit::Account>(0),
                                              around_.max_waiting_bytes);
  }
  events_ = std::make_shared<HttpBodyStream>(around_.max_waiting_bytes, std::move(credit));
  // Before the model can send anything, so that nothing comes before them. They are few and short.
  std::string first;
  {
    MutexLock lock(&mu_);
    answer_->AppendFirst(&first);
  }
  if (!first.empty()) events_->Append({std::move(first), nullptr});
}

void OpenAiInference::Issue(std::shared_ptr<OpenAiInference> inference) {
  const Surroundings& around = inference->around_;
  Outputs outputs(&around.allocator);
  outputs.holder = inference->holder_;
  if (inference->events_ != nullptr) outputs.credit = inference->events_->credit();
  const absl::Status issued = Flight::Issue(&inference, std::move(outputs), around.server);
  if (!issued.ok()) inference->Refuse(issued);
}

void OpenAiInference::Refuse(const absl::Status& error) {
  // Everything that the request holds is returned before the client can see the answer.
  Drop();
  HttpResponse refusal = Failure(error);
  NoteSendingOf(&refusal);
  TakeResponder()->Complete(std::move(refusal));
}

std::optional<HttpResponder> OpenAiInference::TakeResponder() {
  std::optional<HttpResponder> responder;
  MutexLock lock(&mu_);
  responder.swap(responder_);
  return responder;
}

HttpResponse OpenAiInference::Failure(const absl::Status& error) const {
  NoteFailure(traced_, error);
  return OpenAiErrorResponse(error);
}

void OpenAiInference::NoteSendingOf(HttpResponse* response) const {
  // A copy: other responses of the request may be noted at the same time.
  TracedRequestPtr traced = traced_;
  NoteSending(&traced, response);
}

void OpenAiInference::OnReleased() {
  // Frees the input bytes now, because the client may take long to receive the answer.
  buffers_.Clear();
  body_.reset();
}

// ---- The way back

void OpenAiInference::OnResponse(std::unique_ptr<InferResponse> response, bool is_final) {
  if (traced_ != nullptr && response != nullptr) traced_->Note(kResponseComplete);
  // On an I/O thread: found in the cache, and so the only one.
  if (is_final && transport::IoLoop::OnAnyLoop() && response != nullptr &&
      response->status().ok() && EstimateGenerateSize(*response) > kMostInlineAnswerBytes) {
    struct Job {
      std::shared_ptr<OpenAiInference> self;
      std::unique_ptr<InferResponse> response;
      void operator()() { self->Receive(std::move(response), /*is_final=*/true); }
    };
    Job job{shared_from_this(), std::move(response)};
    try {
      if (around_.compression->TryRun(std::move(job))) return;
    } catch (const std::bad_alloc&) {  // as if too much were waiting
    }
    return EndWithError(TooManyLargeAnswers());
  }
  Receive(std::move(response), is_final);
}

void OpenAiInference::Receive(std::unique_ptr<InferResponse> response, bool is_final) {
  if (response != nullptr) {
    std::string events;
    const absl::Status taken = Take(*response, &events);
    if (!taken.ok()) {
      const bool first = Fail(taken);
      if (first && events_ != nullptr) EndWithError(taken);
      if (first && !is_final) Cancel();  // nobody is going to see what the model makes
    } else if (!events.empty()) {
      SendEvents(std::move(events), std::move(response));
      StartStream();
    }
  }
  if (!is_final) return;
  if (events_ != nullptr) return EndEvents();
  Answer();
}

absl::Status OpenAiInference::Take(const InferResponse& response, std::string* events) {
  if (!response.status().ok()) return response.status();
  MutexLock lock(&mu_);
  if (!failure_.ok()) return failure_;
  RETURN_IF_ERROR(answer_->Add(response, events));
  if (events_ != nullptr) return absl::OkStatus();
  return ChargeText(around_.server->in_flight_bytes(), holder_, answer_->EstimateSize(), &units_);
}

bool OpenAiInference::Fail(const absl::Status& error) {
  MutexLock lock(&mu_);
  if (!failure_.ok()) return false;
  failure_ = error;
  return true;
}

void OpenAiInference::Answer() {
  uint64_t size = 0;
  {
    MutexLock lock(&mu_);
    if (failure_.ok()) size = answer_->EstimateSize();
  }
  if (size > kMostInlineAnswerBytes) return TakeResponder()->Complete(MakeAnswer());
  TakeResponder()->CompleteWith([self = shared_from_this()] { return self->MakeAnswer(); });
}

HttpResponse OpenAiInference::MakeAnswer() {
  std::string json;
  BudgetUnits units;
  absl::Status made;
  {
    MutexLock lock(&mu_);
    made = failure_;
    if (made.ok()) made = answer_->AppendJson(&json);
    answer_.reset();
    units = std::move(units_);
  }
  if (made.ok()) {
    made = ChargeText(around_.server->in_flight_bytes(), holder_, json.capacity(), &units);
  }
  HttpResponse response = made.ok() ? JsonResponse(std::move(json)) : Failure(made);
  response.units = std::move(units);
  AddLoadMetrics(load_metrics_, &response);
  NoteSendingOf(&response);
  return response;
}

void OpenAiInference::SendEvents(std::string events, std::unique_ptr<InferResponse> response) {
  const absl::Status sent = AppendCharged(events_.get(), std::move(events), &response,
                                          around_.server->in_flight_bytes(), holder_);
  if (sent.ok() || !Fail(sent)) return;
  LOG_WARNING << LogAbout{response->id(), response->model_name(),
                          traced_ == nullptr ? "" : traced_->LogId()}
              << sent.message();
  NoteFailure(traced_, sent);
  (void)events_->EndWith({OpenAiAnswer::ErrorEvent(HttpStatusOf(sent.code()), sent), nullptr});
  Cancel();
}

void OpenAiInference::EndEvents() {
  std::string last;
  {
    MutexLock lock(&mu_);
    if (!failure_.ok()) return;  // EndWithError has ended it
    answer_->AppendLast(&last);
  }
  events_->Append({std::move(last), nullptr});
  events_->End();
  StartStream();
}

void OpenAiInference::EndWithError(const absl::Status& error) {
  std::optional<HttpResponder> responder = TakeResponder();
  if (responder.has_value()) {  // so the client learns of it by the status
    HttpResponse response = Failure(error);
    NoteSendingOf(&response);
    return responder->Complete(std::move(response));
  }
  NoteFailure(traced_, error);
  events_->Append({OpenAiAnswer::ErrorEvent(HttpStatusOf(error.code()), error), nullptr});
  events_->End();
}

void OpenAiInference::StartStream() {
  std::optional<HttpResponder> responder = TakeResponder();
  if (!responder.has_value()) return;
  HttpResponse response;
  response.content_type = kOpenAiEvents;
  response.body_stream = events_;
  AddLoadMetrics(load_metrics_, &response);
  NoteSendingOf(&response);
  responder->Complete(std::move(response));
}

}  // namespace nereid
