#include "frontends/grpc/stream_request.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "frontends/codec/request_limits.h"
#include "frontends/grpc/infer_parameters.h"
#include "frontends/grpc/message_slices.h"
#include "frontends/grpc/model_version.h"
#include "frontends/grpc/proto_writer.h"
#include "frontends/grpc/stream_infer.h"
#include "infer/request_cost.h"

namespace nereid {
namespace {

// A message refused unread is searched for its id up to this size.
constexpr size_t kReadForId = 65536;

size_t OwnBytes(absl::Span<const WirePiece> pieces) {
  size_t bytes = 0;
  for (const WirePiece& piece : pieces) bytes += piece.of_response ? 0 : piece.bytes.size();
  return bytes;
}

}  // namespace

StreamRequest::StreamRequest(std::shared_ptr<StreamInfer> stream) : stream_(std::move(stream)) {}

StreamRequest::~StreamRequest() {
  counted_ = Gate::Pass();
  slot_.Return();
  if (begun_) stream_->RequestGone();
}

void StreamRequest::Begin() {
  stream_->BeginRequest();
  begun_ = true;
  if (const absl::Status begun = TryBegin(); !begun.ok()) Refuse(begun);
}

absl::Status StreamRequest::TryBegin() {
  InferEnvironment& environment = stream_->environment();
  counted_ = environment.calls.Enter();
  if (!counted_) return ShuttingDownError();
  RETURN_IF_ERROR(TakeUnits());
  RETURN_IF_ERROR(Parse());
  RETURN_IF_ERROR(MakeRequest());
  return Issue();
}

absl::Status StreamRequest::TakeUnits() {
  Server* const server = stream_->environment().server;
  const auto open = static_cast<uint64_t>(stream_->requests() - 1);
  ASSIGN_OR_RETURN(slot_, server->in_flight_requests()->TakeFairly(1, open, ShareUse::kAdmission));
  std::atomic<uint64_t>* const held = stream_->held_bytes();
  ASSIGN_OR_RETURN(bytes_, server->in_flight_bytes()->TakeFairly(
                               received_.bytes()->Length() + kRequestCost,
                               held->load(std::memory_order_relaxed), ShareUse::kAdmission));
  held->fetch_add(bytes_.amount(), std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status StreamRequest::Parse() {
  Budget* const budget = stream_->environment().server->in_flight_bytes();
  const uint64_t held = stream_->held_bytes()->load(std::memory_order_relaxed);
  buffers_.ChargeTo(budget, held);
  return received_.Parse(budget, held);
}

void StreamRequest::ReturnUnits() {
  stream_->held_bytes()->fetch_sub(bytes_.amount(), std::memory_order_relaxed);
  bytes_.Return();
}

absl::Status StreamRequest::MakeRequest() {
  const inference::ModelInferRequest& message = received_.message();
  names_ = {message.id(), message.model_name(), message.model_version()};
  RETURN_IF_ERROR(CheckLength("name of the model", message.model_name()));
  ASSIGN_OR_RETURN(const int64_t version, ParseModelVersion(names_.version));
  ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model,
                   stream_->environment().server->FindModel(names_.model, version));
  decoupled_ = model->config().decoupled;
  request_.emplace(std::move(model), version);
  RETURN_IF_ERROR(ReadInferRequest(received_.request(), &*request_, &buffers_, &formats_));
  wants_empty_final_ = WantsEmptyFinalResponse(message.parameters());
  return absl::OkStatus();
}

absl::Status StreamRequest::Issue() {
  InferEnvironment& environment = stream_->environment();
  if (!decoupled_) {
    place_ = stream_->TakePlace();
    request_->set_inline_turn(stream_->queue()->turn());
  }
  request_->set_open_of_client(static_cast<uint64_t>(stream_->requests() - 1));
  request_->set_release_target({&StreamRequest::OnRelease, this});
  request_->set_response_target(
      {&StreamRequest::OnResponse, this, nullptr, &environment.allocator, nullptr});
  until_released_ = shared_from_this();
  until_answered_ = until_released_;
  stream_->Register(this);
  absl::Status issued = environment.server->InferForClient(&*request_);
  if (!issued.ok()) {
    stream_->Unregister(this);
    until_answered_.reset();
    until_released_.reset();
  }
  return issued;
}

void StreamRequest::Refuse(const absl::Status& error) {
  if (!received_.parsed() && received_.bytes()->Length() <= kReadForId) {
    Parse().IgnoreError();
  }
  if (!place_.has_value() && !decoupled_) place_ = stream_->TakePlace();
  if (stream_->ends_at_errors()) {
    stream_->Fail(error);
  } else {
    StreamFlow::MessagePtr message = NewMessage();
    message->bytes =
        MakeRefusal(error.message(), received_.parsed() ? received_.message().id() : "");
    Send(std::move(message));
  }
  request_.reset();
  received_.Clear();
  buffers_.Clear();
  ReturnUnits();
  stream_->EndRequest();
}

void StreamRequest::Cancel() {
  LOG_VERBOSE(1) << "Cancellation notification received for ModelStreamInfer of '" << names_.model
                 << "'";
  if (const absl::Status cancelled = request_->Cancel(); !cancelled.ok()) {
    LOG_ERROR << "cannot cancel a request: " << cancelled.message();
  }
}

void StreamRequest::OnRelease(InferRequest* request, uint32_t, const ReleaseTarget& target) {
  auto* const self = static_cast<StreamRequest*>(target.userp);
  const std::shared_ptr<StreamRequest> keep = std::move(self->until_released_);
  request->RemoveAllInputs();
  self->received_.Clear();
  self->buffers_.Clear();
  self->ReturnUnits();
}

void StreamRequest::OnResponse(InferResponse* response, uint32_t flags,
                               const ResponseTarget& target) {
  // The object keeps itself alive until the final response, which comes last.
  auto* const self = static_cast<StreamRequest*>(target.userp);
  std::unique_ptr<InferResponse> owned(response);
  const bool is_final = (flags & kResponseCompleteFinal) != 0;
  std::shared_ptr<StreamRequest> keep;
  if (is_final) {
    keep = std::move(self->until_answered_);
    self->stream_->Unregister(self);
  }
  if (self->decoupled_) {
    self->ReceiveOneOfMany(std::move(owned), is_final);
  } else {
    self->ReceiveOnly(std::move(owned), is_final);
  }
  if (is_final) self->stream_->EndRequest();
}

void StreamRequest::ReceiveOneOfMany(std::unique_ptr<InferResponse> response, bool is_final) {
  const bool empty = response == nullptr;
  if (!empty) {
    SendResponse(std::move(response), is_final);
  } else if (is_final && wants_empty_final_) {
    StreamFlow::MessagePtr message = NewMessage();
    message->bytes = MakeEmptyFinalResponse(names_);
    Send(std::move(message));
  }
  if (!empty && !is_final) stream_->HoldBack(waiting_);
}

void StreamRequest::ReceiveOnly(std::unique_ptr<InferResponse> response, bool is_final) {
  uint32_t count;
  std::unique_ptr<InferResponse> first;
  {
    MutexLock lock(&mu_);
    // A second response is an error of the model; then only their number matters.
    if (response != nullptr && ++response_count_ == 1) response_ = std::move(response);
    if (!is_final) return;
    count = response_count_;
    first = std::move(response_);
  }
  if (count == 1) return SendResponse(std::move(first), /*is_final=*/true);
  const absl::Status error =
      absl::InternalError(absl::StrCat("expected a single response, got ", count));
  LOG_ERROR << "model '" << names_.model << "': " << error.message();
  SendError(error, /*is_final=*/true);
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
  MakeByteBuffer(*pieces, &response).Swap(&message->bytes);
  if (response != nullptr) {  // it has been copied completely
    absl::StatusOr<BudgetUnits> units =
        stream_->environment().server->in_flight_bytes()->TakeFairly(OwnBytes(*pieces), 0,
                                                                     ShareUse::kAnswer);
    if (units.ok()) {
      message->units = *std::move(units);
    } else {
      message->response = std::move(response);
    }
  }
  writer.Clear();
  Send(std::move(message));
}

void StreamRequest::SendError(const absl::Status& error, bool is_final) {
  if (stream_->ends_at_errors()) return stream_->Fail(error);
  StreamFlow::MessagePtr message = NewMessage();
  message->bytes = MakeErrorResponse(error.message(), names_, is_final);
  Send(std::move(message));
}

void StreamRequest::Send(StreamFlow::MessagePtr message) {
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
