#include "frontends/grpc/unary_infer.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "frontends/codec/request_limits.h"
#include "frontends/grpc/message_slices.h"
#include "frontends/grpc/model_version.h"
#include "frontends/grpc/status_map.h"
#include "infer/request_cost.h"

namespace nereid {

void UnaryInfer::AwaitCall(const std::shared_ptr<InferEnvironment>& environment,
                           const std::shared_ptr<CallQueue>& queue) {
  std::unique_ptr<UnaryInfer> call = queue->TakeIdle();
  if (call == nullptr) call = std::make_unique<UnaryInfer>();
  call->call_.emplace(environment, queue);
  Call& next = *call->call_;
  next.context.AsyncNotifyWhenDone(&call->done_);
  // One reference until gRPC has taken the answer, one until it reports the end of the call.
  call->references_.store(2, std::memory_order_relaxed);
  const bool started = queue->StartOperation([&](grpc::ServerCompletionQueue* completion_queue) {
    environment->service.RequestModelInfer(&next.context, call->received_.bytes(), &next.writer,
                                           completion_queue, &call->arrived_);
  });
  if (started) call.release();  // returned by an event
}

void UnaryInfer::OnArrived(bool ok) {
  if (!ok) {  // the server is shut down
    delete this;
    return;
  }
  AwaitCall(call_->environment, call_->queue);
  if (const absl::Status begun = Begin(); !begun.ok()) {
    call_->request.reset();
    DropMessage();
    SendError(begun);
  }
}

absl::Status UnaryInfer::Begin() {
  InferEnvironment& environment = *call_->environment;
  call_->counted = environment.calls.Enter();
  if (!call_->counted) return ShuttingDownError();
  environment.Prepare(&call_->context);
  Budget* const budget = environment.server->in_flight_bytes();
  RETURN_IF_ERROR(TakeSlot());
  ASSIGN_OR_RETURN(BudgetUnits units, budget->TakeFairly(received_.bytes()->Length() + kRequestCost,
                                                         0, ShareUse::kAdmission));
  buffers_.ChargeTo(budget, units.amount());
  RETURN_IF_ERROR(received_.Parse(budget, units.amount()));
  RETURN_IF_ERROR(MakeRequest());
  call_->request->set_units(std::move(units));
  call_->request->set_release_target({&UnaryInfer::OnRelease, this});
  call_->request->set_response_target(
      {&UnaryInfer::OnResponse, this, nullptr, &environment.allocator, nullptr});
  // One reference until the request is released, one until its final response has arrived. Both may
  // happen before Infer returns.
  references_.fetch_add(2, std::memory_order_relaxed);
  call_->issued = true;
  call_->request->set_inline_turn(call_->queue->turn());
  call_->request->set_open_of_client(call_->account.others());
  absl::Status issued = environment.server->InferForClient(&*call_->request);
  if (!issued.ok()) {
    call_->issued = false;
    references_.fetch_sub(2, std::memory_order_relaxed);
  }
  return issued;
}

absl::Status UnaryInfer::TakeSlot() {
  InferEnvironment& environment = *call_->environment;
  Budget* const requests = environment.server->in_flight_requests();
  if (environment.peers.AreMany(requests->used())) {
    call_->account = environment.peers.Enter(call_->context.peer());
  }
  ASSIGN_OR_RETURN(call_->slot,
                   requests->TakeFairly(1, call_->account.others(), ShareUse::kAdmission));
  return absl::OkStatus();
}

absl::Status UnaryInfer::MakeRequest() {
  const inference::ModelInferRequest& message = received_.message();
  RETURN_IF_ERROR(CheckLength("name of the model", message.model_name()));
  ASSIGN_OR_RETURN(const int64_t version, ParseModelVersion(message.model_version()));
  ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model,
                   call_->environment->server->FindModel(message.model_name(), version));
  if (model->config().decoupled) {
    return absl::UnimplementedError(
        "ModelInfer RPC doesn't support models with decoupled transaction policy");
  }
  call_->request.emplace(std::move(model), version);
  return ReadInferRequest(received_.request(), &*call_->request, &buffers_, &formats_);
}

void UnaryInfer::OnDone(bool ok) {
  if (call_->context.IsCancelled() && call_->issued) {
    LOG_VERBOSE(1) << "Cancellation notification received for ModelInfer of '"
                   << call_->request->model()->config().name << "'";
    if (const absl::Status cancelled = call_->request->Cancel(); !cancelled.ok()) {
      LOG_ERROR << "cannot cancel a request: " << cancelled.message();
    }
  }
  DropReference();
}

void UnaryInfer::OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target) {
  auto* const self = static_cast<UnaryInfer*>(target.userp);
  request->RemoveAllInputs();
  self->DropMessage();
  self->DropReference();
}

void UnaryInfer::OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target) {
  auto* const self = static_cast<UnaryInfer*>(target.userp);
  self->Receive(std::unique_ptr<InferResponse>(response), (flags & kResponseCompleteFinal) != 0);
}

void UnaryInfer::Receive(std::unique_ptr<InferResponse> response, bool is_final) {
  if (response != nullptr) {
    MutexLock lock(&mu_);
    if (++response_count_ == 1) response_ = std::move(response);
  }
  if (!is_final) return;
  Answer();
  DropReference();
}

void UnaryInfer::Answer() {
  uint32_t count;
  std::unique_ptr<InferResponse> response;
  {
    MutexLock lock(&mu_);
    count = response_count_;
    response = std::move(response_);
  }
  if (count != 1) {
    SendError(absl::InternalError(absl::StrCat("expected a single response, got ", count)));
  } else if (!response->status().ok()) {
    SendError(response->status());
  } else {
    Send(std::move(response));
  }
}

void UnaryInfer::Send(std::unique_ptr<InferResponse> response) {
  const absl::StatusOr<absl::Span<const WirePiece>> pieces =
      proto_writer_.Write(*response, formats_);
  if (!pieces.ok()) return SendError(pieces.status());
  const grpc::ByteBuffer message = MakeByteBuffer(*pieces, &response);
  response.reset();  // if not yet moved, it has been copied completely
  const bool started = call_->queue->StartOperation([&](grpc::ServerCompletionQueue*) {
    call_->writer.Finish(message, grpc::Status(), &finished_);
  });
  if (!started) Finished();
}

void UnaryInfer::SendError(const absl::Status& error) {
  const bool started = call_->queue->StartOperation([&](grpc::ServerCompletionQueue*) {
    call_->writer.FinishWithError(ToGrpcStatus(error), &finished_);
  });
  if (!started) Finished();
}

void UnaryInfer::OnFinished(bool ok) { Finished(); }

void UnaryInfer::Finished() {
  call_->counted = Gate::Pass();
  DropReference();
}

void UnaryInfer::DropMessage() {
  received_.Clear();
  buffers_.Clear();
}

void UnaryInfer::DropReference() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  {
    MutexLock lock(&mu_);
    response_count_ = 0;
    response_.reset();
  }
  formats_ = OutputFormats();
  proto_writer_.Clear();
  // This call may hold the last reference to the queue.
  const std::shared_ptr<CallQueue> queue = call_->queue;
  call_.reset();
  queue->ReturnIdle(std::unique_ptr<UnaryInfer>(this));
}

}  // namespace nereid
