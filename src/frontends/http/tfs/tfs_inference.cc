// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/tfs/tfs_inference.h"

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <new>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/http/charged_text.h"
#include "frontends/http/compress_body.h"
#include "frontends/http/off_loop.h"
#include "frontends/http/status_map.h"
#include "frontends/tfs/tfs_response_writer.h"
#include "frontends/transport/io_loop.h"

namespace nereid {

void TfsInference::Attach(HttpResponder responder) {
  responder.SetOnCancel([weak = weak_from_this()] {
    if (const auto inference = weak.lock()) inference->Cancel();
  });
  holder_ = responder.holder();
  responder_.emplace(std::move(responder));
}

absl::Status TfsInference::Read(std::shared_ptr<ReceivedBody> body, const RequestLimits& limits,
                                Budget* budget) {
  body_ = std::move(body);
  budget_ = budget;
  buffers_.ChargeTo(budget, holder_);
  absl::Status read = ReadTfsRequest(body_ == nullptr ? absl::string_view() : body_->text(), limits,
                                     draft(), &buffers_, &call_);
  responder_->NoteRequest([this] { return AboutRequest(*draft(), traced_); });
  return read;
}

void TfsInference::Issue(std::shared_ptr<TfsInference> inference, Server* server,
                         const OutputAllocator* allocator, InlineTurn* turn) {
  inference->draft()->set_inline_turn(turn);
  Outputs outputs(allocator);
  outputs.holder = inference->holder_;
  const absl::Status issued = Flight::Issue(&inference, std::move(outputs), server);
  if (!issued.ok()) inference->Refuse(issued);
}

void TfsInference::Refuse(const absl::Status& error) {
  // Everything that the request holds is returned before the client can see the answer.
  Drop();
  CompleteWithError(error);
}

void TfsInference::CompleteWithError(const absl::Status& error) {
  HttpResponse response = StatusResponse(error);
  NoteFailure(traced_, error);
  NoteSending(&traced_, &response);
  responder_->Complete(std::move(response));
}

void TfsInference::OnReleased() {
  // Frees the input bytes now, because the client may take long to receive the answer.
  body_.reset();
  buffers_.Clear();
}

void TfsInference::OnResponse(std::unique_ptr<InferResponse> response, bool is_final) {
  if (traced_ != nullptr) traced_->Note(kResponseComplete);
  if (response_.Add(std::move(response), is_final)) Answer();
}

void TfsInference::Answer() {
  if (!TakesLongToWrite()) {
    return responder_->CompleteWith([self = shared_from_this()] { return self->MakeAnswer(); });
  }
  const auto write = [self = shared_from_this()] {
    self->responder_->Complete(self->MakeAnswer());
  };
  try {
    if (executor_->TryRun(write)) return;
  } catch (const std::bad_alloc&) {  // as if too much were waiting
  }
  // The queue is full. A thread of the model, which makes answers faster than they can be written,
  // writes this one.
  if (!transport::IoLoop::OnAnyLoop()) return write();
  CompleteWithError(TooManyLargeAnswers());
}

bool TfsInference::TakesLongToWrite() const {
  if (response_.count() != 1 || !response_.first()->status().ok()) return false;
  return EstimateTfsSize(*response_.first(), call_) > kMostInlineAnswerBytes;
}

HttpResponse TfsInference::MakeAnswer() {
  absl::StatusOr<HttpResponse> written = WriteAnswer();
  HttpResponse response = written.ok() ? *std::move(written) : StatusResponse(written.status());
  NoteFailure(traced_, written.status());
  NoteSending(&traced_, &response);
  return response;
}

absl::StatusOr<HttpResponse> TfsInference::WriteAnswer() {
  ASSIGN_OR_RETURN(const std::unique_ptr<InferResponse> response, response_.Take());
  std::string json;
  BudgetUnits units;
  RETURN_IF_ERROR(ChargeText(budget_, holder_, EstimateTfsSize(*response, call_), &units));
  RETURN_IF_ERROR(AppendTfsResponse(*response, call_, form_.non_finite, &json));
  RETURN_IF_ERROR(ChargeText(budget_, holder_, json.capacity(), &units));
  HttpResponse http = JsonResponse(std::move(json));
  http.units = std::move(units);
  if (form_.coding != ContentCoding::kIdentity) {
    CompressBody(
        form_.coding, budget_, holder_, [this] { return !cancelled(); }, &http);
  }
  return http;
}

}  // namespace nereid
