// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/http_inference.h"

#include <absl/strings/str_cat.h>

#include <new>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/codec/v2_request_reader.h"
#include "frontends/codec/v2_response_writer.h"
#include "frontends/http/charged_text.h"
#include "frontends/http/compress_body.h"
#include "frontends/http/infer_endpoint.h"
#include "frontends/http/off_loop.h"
#include "frontends/http/status_map.h"
#include "frontends/transport/io_loop.h"

namespace nereid {
namespace {

static_assert(ReceivedBody::kPadding >= kBodyPadding);

// A response being sent: the memory that the pieces of the HTTP body point into.
struct SentResponse {
  std::unique_ptr<InferResponse> response;
  ResponseBody body;
};

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

absl::Status HttpInference::Read(std::shared_ptr<ReceivedBody> body,
                                 std::optional<size_t> header_length, const RequestLimits& limits,
                                 Budget* budget, const SharedMemoryRegistry* shared_memory) {
  static constexpr char kNoBody[kBodyPadding] = {};
  body_ = std::move(body);
  budget_ = budget;
  buffers_.ChargeTo(budget, holder_);
  buffers_.set_shared_memory(shared_memory);
  V2RequestBody view;
  view.data = body_ == nullptr ? kNoBody : body_->data();
  view.size = body_ == nullptr ? 0 : body_->size();
  view.header_length = header_length;
  absl::Status read = ReadV2Request(view, limits, draft(), &buffers_, &formats_);
  if (responder_.has_value()) {
    responder_->NoteRequest([this] { return AboutRequest(*draft(), traced_); });
  }
  return read;
}

void HttpInference::Attach(HttpResponder responder) {
  responder.SetOnCancel([weak = weak_from_this()] {
    if (const auto inference = weak.lock()) inference->Cancel();
  });
  holder_ = responder.holder();
  responder_.emplace(std::move(responder));
}

void HttpInference::Issue(std::shared_ptr<HttpInference> inference, Server* server,
                          const OutputAllocators& allocators, InlineTurn* turn) {
  inference->draft()->set_inline_turn(turn);
  const bool raw =
      inference->formats_.AllBinary() && inference->response_coding_ == ContentCoding::kIdentity;
  Outputs outputs = allocators.For(inference->formats_, raw);
  outputs.holder = inference->holder_;
  const absl::Status issued = Flight::Issue(&inference, std::move(outputs), server);
  if (!issued.ok()) inference->Refuse(issued);
}

void HttpInference::Refuse(const absl::Status& error) {
  // Everything that the request holds is returned before the client can see the answer.
  Drop();
  CompleteWithError(error);
}

void HttpInference::CompleteWithError(const absl::Status& error) {
  HttpResponse response = StatusResponse(error);
  NoteFailure(traced_, error);
  NoteSending(&traced_, &response);
  responder_->Complete(std::move(response));
}

void HttpInference::OnReleased() {
  // Frees the input bytes now, because the client may take long to receive the answer.
  body_.reset();
  buffers_.Clear();
}

void HttpInference::OnResponse(std::unique_ptr<InferResponse> response, bool is_final) {
  if (traced_ != nullptr) traced_->Note(kResponseComplete);
  if (response_.Add(std::move(response), is_final)) Answer();
}

void HttpInference::Answer() {
  if (!TakesLongToWrite()) return AnswerOnIoThread();
  if (WriteElsewhere()) return;
  // The queue is full. The finished result is sent uncompressed rather than refused, and a thread
  // of the model, which makes answers faster than they can be written, writes it.
  response_coding_ = ContentCoding::kIdentity;
  if (!TakesLongToWrite()) return AnswerOnIoThread();
  if (!transport::IoLoop::OnAnyLoop()) return WriteAndAnswer();
  CompleteWithError(TooManyLargeAnswers());
}

bool HttpInference::WriteElsewhere() {
  try {
    return compression_->TryRun([self = shared_from_this()] { self->WriteAndAnswer(); });
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void HttpInference::WriteAndAnswer() {
  // Not compressed for a client that is leaving, or that has closed only its sending side.
  if (cancelled()) response_coding_ = ContentCoding::kIdentity;
  if (TakesLongToWrite()) return responder_->Complete(MakeResponse());
  // The I/O thread makes the answer only if the client can still receive it.
  AnswerOnIoThread();
}

void HttpInference::AnswerOnIoThread() {
  responder_->CompleteWith([self = shared_from_this()] { return self->MakeResponse(); });
}

bool HttpInference::TakesLongToWrite() const {
  if (response_.count() != 1 || !response_.first()->status().ok()) return false;
  const bool plain = response_coding_ == ContentCoding::kIdentity;
  if (plain && formats_.AllBinary()) return false;
  const InferResponse& response = *response_.first();
  // Binary outputs are sent from where they are, but compressed byte by byte.
  return (plain ? EstimateJsonSize(response, formats_) : EstimateBodySize(response, formats_)) >
         kMostInlineAnswerBytes;
}

HttpResponse HttpInference::MakeResponse() {
  absl::StatusOr<HttpResponse> written = WriteOnlyResponse();
  HttpResponse response = written.ok() ? *std::move(written) : StatusResponse(written.status());
  NoteFailure(traced_, written.status());
  NoteSending(&traced_, &response);
  return response;
}

absl::StatusOr<HttpResponse> HttpInference::WriteOnlyResponse() {
  ASSIGN_OR_RETURN(std::unique_ptr<InferResponse> response, response_.Take());
  return WriteResponse(std::move(response));
}

absl::StatusOr<HttpResponse> HttpInference::WriteResponse(std::unique_ptr<InferResponse> response) {
  BudgetUnits units;
  RETURN_IF_ERROR(ChargeText(budget_, holder_, EstimateJsonSize(*response, formats_), &units));
  ASSIGN_OR_RETURN(ResponseBody body, WriteV2Response(*response, formats_));
  RETURN_IF_ERROR(ChargeText(budget_, holder_, body.json.capacity(), &units));
  HttpResponse http = InferenceResponse(std::move(response), std::move(body));
  http.units = std::move(units);
  if (response_coding_ != ContentCoding::kIdentity) {
    CompressBody(
        response_coding_, budget_, holder_, [this] { return !cancelled(); }, &http);
  }
  return http;
}

}  // namespace nereid
