// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/stream_request.h"

#include <absl/cleanup/cleanup.h>

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "frontends/codec/request_limits.h"
#include "frontends/grpc/infer_parameters.h"
#include "frontends/grpc/model_version.h"
#include "frontends/grpc/proto_writer.h"
#include "frontends/grpc/stream_infer.h"
#include "infer/request_cost.h"

namespace nereid {
namespace {

// A message refused unread is searched for its id up to this size.
constexpr size_t kReadForId = 65536;
// What a response that waits for its client takes besides its bytes, about. Counts for decoupled
// models, since a request has any number of them.
constexpr uint64_t kMessageBytes = 512;
// A response of which as much is not in its outputs is paid for by what its request costs.
constexpr uint64_t kFreeBytes = 4096;

}  // namespace

StreamRequest::StreamRequest(std::shared_ptr<StreamInfer> stream) : stream_(std::move(stream)) {}

StreamRequest::~StreamRequest() {
  counted_ = Gate::Pass();
  ReturnSlot();
  if (begun_) stream_->RequestGone(&waiting_);
}

void StreamRequest::Begin(std::shared_ptr<StreamRequest> request,
                          std::shared_ptr<ReceivedBody> message, const absl::Status& refused) {
  if (message != nullptr) request->cost_ = message->TakeUnits(kRequestCost);
  request->received_.Take(std::move(message));
  request->stream_->BeginRequest();
  request->begun_ = true;
  const absl::Status begun = refused.ok() ? TryBegin(&request) : refused;
  if (!begun.ok()) request->Refuse(begun);
}

absl::Status StreamRequest::TryBegin(std::shared_ptr<StreamRequest>* request) {
  StreamRequest* const self = request->get();
  self->counted_ = self->stream_->env().calls.Enter();
  if (!self->counted_) return ShuttingDownError();
  RETURN_IF_ERROR(self->TakeUnits());
  ASSIGN_OR_RETURN(const bool parsed, self->ParseAtOnce());
  return parsed ? ReadAndIssue(request) : ReadElsewhere(request);
}

absl::Status StreamRequest::ReadAndIssue(std::shared_ptr<StreamRequest>* request) {
  StreamRequest* const self = request->get();
  if (const absl::Status made = self->MakeDraft(); !made.ok()) {
    return WaitAfter(made, *request, &ReadAndIssue);
  }
  self->NoteDraft();
  RETURN_IF_ERROR(self->ReadDraft());
  return IssueDraft(request);
}

absl::Status StreamRequest::WaitAfter(const absl::Status& error,
                                      const std::shared_ptr<StreamRequest>& request, Step step) {
  const bool waits = request->stream_->AwaitModel(error, [request, step] {
    std::shared_ptr<StreamRequest> again = request;
    const absl::Status done =
        request->stream_->gone() ? absl::CancelledError("the call has ended") : step(&again);
    if (!done.ok()) request->Refuse(done);
  });
  return waits ? absl::OkStatus() : error;
}

absl::Status StreamRequest::ReadElsewhere(std::shared_ptr<StreamRequest>* given) {
  const std::shared_ptr<StreamRequest> request = *given;
  const auto read = std::make_shared<absl::Status>(OutOfMemoryForMessage());
  const auto work = [request, read](const std::atomic<bool>&) { *read = request->ParseAndRead(); };
  const auto finish = [request, read] {
    if (request->draft() != nullptr) request->NoteDraft();
    if (read->ok() && request->stream_->gone()) *read = absl::CancelledError("the call has ended");
    std::shared_ptr<StreamRequest> issued = request;
    if (read->ok()) {
      *read = IssueDraft(&issued);
    } else if (request->draft() == nullptr && !request->stream_->gone()) {
      *read = WaitAfter(*read, request, &ReadElsewhere);
    }
    if (!read->ok()) request->Refuse(*read);
  };
  return request->stream_->RunElsewhere(work, finish) ? absl::OkStatus() : TooManyLargeMessages();
}

absl::Status StreamRequest::ParseAndRead() {
  GrpcEnvironment& environment = stream_->env();
  RETURN_IF_ERROR(received_.ParseElsewhere(environment.server->in_flight_bytes(),
                                           environment.executors.compression));
  if (stream_->gone()) return absl::CancelledError("the call has ended");
  RETURN_IF_ERROR(MakeDraft());
  return ReadDraft();
}

absl::Status StreamRequest::TakeUnits() {
  Server* const server = stream_->env().server;
  const auto open = static_cast<uint64_t>(stream_->requests() - 1);
  ASSIGN_OR_RETURN(BudgetUnits slot,
                   server->in_flight_requests()->TakeFairly(1, open, ShareUse::kAdmission));
  set_slot(std::move(slot));
  return absl::OkStatus();
}

absl::StatusOr<bool> StreamRequest::ParseAtOnce() {
  Budget* const budget = stream_->env().server->in_flight_bytes();
  buffers_.ChargeTo(budget, stream_->holder());
  buffers_.set_shared_memory(stream_->env().shared_memory);
  return received_.ParseAtOnce(budget);
}

absl::Status StreamRequest::MakeDraft() {
  names_ = {std::string(received_.id()), std::string(received_.model_name()),
            std::string(received_.model_version())};
  RETURN_IF_ERROR(CheckLength("name of the model", names_.model));
  ASSIGN_OR_RETURN(const int64_t version, ParseModelVersion(names_.version));
  ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model,
                   stream_->env().server->FindModel(names_.model, version));
  decoupled_ = model->config().decoupled;
  Draft(std::move(model), version);
  return absl::OkStatus();
}

void StreamRequest::NoteDraft() {
  traced_ = BeginGrpcTrace(stream_->env().tracing, stream_->calls_stream(),
                           stream_->waiting_since_ns(), draft());
}

absl::Status StreamRequest::ReadDraft() {
  RETURN_IF_ERROR(received_.Read(draft(), &buffers_, &formats_));
  wants_empty_final_ = received_.wants_empty_final_response();
  return absl::OkStatus();
}

absl::Status StreamRequest::IssueDraft(std::shared_ptr<StreamRequest>* request) {
  StreamRequest* const self = request->get();
  StreamInfer* const stream = self->stream_.get();
  RETURN_IF_ERROR(stream->ForwardMetadata(self->draft()));
  if (self->decoupled_) {
    self->waiting_.credit = stream->MakeCredit();
  } else {
    self->place_ = stream->TakePlace();
    self->draft()->set_inline_turn(stream->turn());
  }
  self->draft()->set_open_of_client(static_cast<uint64_t>(stream->requests() - 1));
  stream->Register(self);
  absl::Cleanup not_issued = [stream, self] { stream->Unregister(self); };
  GrpcEnvironment& environment = stream->env();
  Outputs outputs =
      environment.allocators.For(self->formats_, environment.compression == GrpcCompression::kNone);
  outputs.credit = self->waiting_.credit;
  outputs.holder = stream->holder();
  RETURN_IF_ERROR(Issue(request, std::move(outputs), environment.server));
  std::move(not_issued).Cancel();
  return absl::OkStatus();
}

LogAbout StreamRequest::About() const {
  return {names_.id, names_.model, traced_ == nullptr ? "" : traced_->LogId()};
}

void StreamRequest::Refuse(const absl::Status& error) {
  if (!received_.parsed() && received_.size() > 0 && received_.size() <= kReadForId) {
    ParseAtOnce().IgnoreError();
  }
  if (!place_.has_value() && !decoupled_) place_ = stream_->TakePlace();
  NoteFailure(traced_, error);
  if (stream_->ends_at_errors()) {
    stream_->Fail(error);
  } else {
    StreamFlow::MessagePtr message = NewMessage();
    message->bytes = MakeRefusal(error.message(), received_.parsed() ? received_.id() : "");
    Send(std::move(message));
  }
  Drop();
  stream_->EndRequest();
}

void StreamRequest::OnReleased() {
  received_.Clear();
  buffers_.Clear();
}

void StreamRequest::OnResponse(std::unique_ptr<InferResponse> response, bool is_final) {
  if (is_final) stream_->Unregister(this);
  if (traced_ != nullptr && response != nullptr) traced_->Note(kResponseComplete);
  if (decoupled_) {
    ReceiveOneOfMany(std::move(response), is_final);
  } else {
    ReceiveOnly(std::move(response), is_final);
  }
  if (is_final) stream_->EndRequest();
}

void StreamRequest::ReceiveOneOfMany(std::unique_ptr<InferResponse> response, bool is_final) {
  if (response != nullptr) {
    SendResponse(std::move(response), is_final);
  } else if (is_final && wants_empty_final_) {
    StreamFlow::MessagePtr message = NewMessage();
    message->bytes = MakeEmptyFinalResponse(names_);
    Send(std::move(message));
  }
}

void StreamRequest::ReceiveOnly(std::unique_ptr<InferResponse> response, bool is_final) {
  if (!response_.Add(std::move(response), is_final)) return;
  absl::StatusOr<std::unique_ptr<InferResponse>> only = response_.Take();
  if (only.ok()) return SendResponse(*std::move(only), /*is_final=*/true);
  if (response_.count() != 1) {
    LOG_ERROR_SELDOM << About() << "model '" << names_.model << "': " << only.status().message();
  }
  SendError(only.status(), /*is_final=*/true);
}

void StreamRequest::SendResponse(std::unique_ptr<InferResponse> response, bool is_final) {
  if (stream_->gone()) return;
  if (!response->status().ok()) return SendError(response->status(), is_final);
  // One per thread: responses of a request may come on several threads at once.
  static thread_local ProtoWriter writer;
  const absl::StatusOr<absl::Span<const WirePiece>> pieces =
      writer.WriteStreamed(*response, formats_, is_final);
  if (!pieces.ok()) return SendError(pieces.status(), is_final);
  StreamFlow::MessagePtr message = NewMessage();
  message->bytes = OutMessage(*pieces, &response);
  if (absl::Status compressed =
          message->bytes.Compress(stream_->coding(), stream_->env().compression);
      !compressed.ok()) {
    return SendError(compressed, is_final);
  }
  const bool copied = response != nullptr;
  const uint64_t cost = message->bytes.own_size() + (decoupled_ ? kMessageBytes : 0);
  // Otherwise outputs are paid for, and the request's own cost pays for what little is beside them.
  if (copied || cost > kFreeBytes) {
    absl::StatusOr<BudgetUnits> units = stream_->env().server->in_flight_bytes()->TakeFor(
        stream_->holder(), cost, ShareUse::kAnswer);
    if (units.ok()) {
      message->units = *std::move(units);
    } else if (waiting_.credit != nullptr && waiting_.credit->full()) {
      writer.Clear();
      const absl::Status error = UnreadError(names_.id, names_.model, stream_->waiting_bytes());
      LOG_WARNING << About() << error.message();
      NoteFailure(traced_, error);
      return stream_->Fail(error);
    } else if (copied) {
      message->response = std::move(response);
    } else {
      writer.Clear();
      return SendError(units.status(), is_final);
    }
  }
  writer.Clear();
  Send(std::move(message));
}

void StreamRequest::SendError(const absl::Status& error, bool is_final) {
  NoteFailure(traced_, error);
  // RESOURCE_EXHAUSTED: the client reads so slowly that its stream has no room for the error.
  if (stream_->ends_at_errors() || (decoupled_ && absl::IsResourceExhausted(error))) {
    return stream_->Fail(error);
  }
  StreamFlow::MessagePtr message = NewMessage();
  message->bytes = MakeErrorResponse(error.message(), names_, is_final);
  Send(std::move(message));
}

void StreamRequest::Send(StreamFlow::MessagePtr message) {
  message->kept = NoteSending(traced_);
  if (place_.has_value()) {
    stream_->SendInOrder(*place_, std::move(message));
  } else {
    stream_->Send(std::move(message));
  }
}

StreamFlow::MessagePtr StreamRequest::NewMessage() {
  auto message = std::make_unique<StreamMessage>();
  message->request = shared_from_this();
  message->waiting = &waiting_;
  return message;
}

}  // namespace nereid
