// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/unary_infer.h"

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {

void UnaryInfer::OnMessage(std::shared_ptr<ReceivedBody> message) {
  if (std::exchange(begun_, true)) {
    return Fail(absl::InternalError("this method takes one message, but the client sent more"));
  }
  Take(std::move(message));
  if (const absl::Status begun = Begin(); !begun.ok()) Refuse(begun);
}

void UnaryInfer::Refuse(const absl::Status& error) {
  Drop();
  counted_ = Gate::Pass();
  NoteFailure(traced_, error);
  sent_ = NoteSending(traced_);
  SendStatus(error);
}

void UnaryInfer::OnHalfClose() {
  if (!begun_) SendStatus(absl::InternalError("this method takes one message, but there is none"));
}

absl::Status UnaryInfer::Begin() {
  GrpcEnvironment& env = environment();
  counted_ = env.calls.Enter();
  if (!counted_) return ShuttingDownError();
  CompressAnswersFor(env.compression);
  const auto others = static_cast<uint64_t>(connection().open_streams() - 1);
  ASSIGN_OR_RETURN(BudgetUnits slot,
                   env.server->in_flight_requests()->TakeFairly(1, others, ShareUse::kAdmission));
  set_slot(std::move(slot));
  Budget* const budget = env.server->in_flight_bytes();
  buffers_.ChargeTo(budget, holder());
  buffers_.set_shared_memory(env.shared_memory);
  ASSIGN_OR_RETURN(const bool parsed, ParseAtOnce(budget));
  return parsed ? ReadAndIssue() : ReadElsewhere();
}

absl::Status UnaryInfer::ReadAndIssue() {
  if (const absl::Status made = MakeDraft(); !made.ok()) {
    return WaitAfter(made, &UnaryInfer::ReadAndIssue);
  }
  NoteDraft();
  RETURN_IF_ERROR(Read(draft(), &buffers_));
  return IssueDraft();
}

absl::Status UnaryInfer::WaitAfter(const absl::Status& error, absl::Status (UnaryInfer::*step)()) {
  const bool waits = AwaitModel(error, [this, step] {  // the call is alive
    const absl::Status done =
        ended() ? absl::CancelledError("the call has ended") : (this->*step)();
    if (!done.ok()) Refuse(done);
  });
  return waits ? absl::OkStatus() : error;
}

absl::Status UnaryInfer::ReadElsewhere() {
  const auto self = std::static_pointer_cast<UnaryInfer>(shared_from_this());
  const auto read = std::make_shared<absl::Status>(OutOfMemoryForMessage());
  const auto work = [self, read](const std::atomic<bool>&) { *read = self->ParseAndRead(); };
  const auto finish = [this, read] {  // the call is alive
    if (draft() != nullptr) NoteDraft();
    if (read->ok() && ended()) *read = absl::CancelledError("the call has ended");
    if (read->ok()) {
      *read = IssueDraft();
    } else if (draft() == nullptr && !ended()) {
      *read = WaitAfter(*read, &UnaryInfer::ReadElsewhere);
    }
    if (!read->ok()) Refuse(*read);
  };
  return RunElsewhere(work, finish) ? absl::OkStatus() : TooManyLargeMessages();
}

absl::Status UnaryInfer::ParseAndRead() {
  GrpcEnvironment& env = environment();
  RETURN_IF_ERROR(ParseElsewhere(env.server->in_flight_bytes(), env.executors.compression));
  if (cancelled()) return absl::CancelledError("the call has ended");
  RETURN_IF_ERROR(MakeDraft());
  return Read(draft(), &buffers_);
}

absl::Status UnaryInfer::MakeDraft() {
  ASSIGN_OR_RETURN(Asked asked, FindModel());
  Draft(std::move(asked.model), asked.version);
  return absl::OkStatus();
}

void UnaryInfer::NoteDraft() {
  if (access() != nullptr) {
    access()->model = draft()->model()->config().name;
    access()->request_id = std::string(request_id());
  }
  traced_ = BeginGrpcTrace(environment().tracing, *stream(), waiting_since_ns_, draft());
}

absl::Status UnaryInfer::IssueDraft() {
  GrpcEnvironment& env = environment();
  if (Log::IsVerboseEnabled(1)) about_ = nereid::AboutRequest(*draft(), traced_);
  RETURN_IF_ERROR(ForwardMetadata(draft()));
  draft()->set_inline_turn(connection().loop()->turn());
  draft()->set_open_of_client(static_cast<uint64_t>(connection().open_streams() - 1));
  auto self = std::static_pointer_cast<UnaryInfer>(shared_from_this());
  Outputs outputs = MakeOutputs();
  outputs.holder = holder();
  return Issue(&self, std::move(outputs), env.server);
}

void UnaryInfer::OnReleased() {
  Clear();
  buffers_.Clear();
}

void UnaryInfer::OnResponse(std::unique_ptr<InferResponse> response, bool is_final) {
  if (traced_ != nullptr) traced_->Note(kResponseComplete);
  if (!response_.Add(std::move(response), is_final)) return;
  answer_ = MakeAnswer();
  if (OnLoop()) {
    SendAnswer();
  } else {
    Deliver();
  }
}

absl::StatusOr<OutMessage> UnaryInfer::MakeAnswer() {
  ASSIGN_OR_RETURN(std::unique_ptr<InferResponse> response, response_.Take());
  ASSIGN_OR_RETURN(OutMessage message, Write(std::move(response)));
  RETURN_IF_ERROR(message.Compress(answer_coding(), environment().compression));
  return message;
}

void UnaryInfer::SendAnswer() {
  answered_ = true;
  if (ended()) {  // the client has not waited
    counted_ = Gate::Pass();
    return;
  }
  NoteFailure(traced_, answer_.status());
  sent_ = NoteSending(traced_);
  writing_units_.Return();
  if (answer_.ok()) {
    SendMessage(*std::move(answer_));
    SendStatus(absl::OkStatus());
  } else {
    SendStatus(answer_.status());
  }
  answer_ = absl::UnknownError("");  // the stream has what it needs
}

}  // namespace nereid
