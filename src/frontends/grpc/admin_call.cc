#include "frontends/grpc/admin_call.h"

#include <memory>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "frontends/grpc/status_map.h"
#include "infer/request_cost.h"

namespace nereid {

void AdminCall::AwaitCall(const std::shared_ptr<AdminEnvironment>& environment,
                          const std::shared_ptr<CallQueue>& queue) {
  auto* const call = new AdminCall(environment, queue);
  call->StartOperation([&](grpc::ServerCompletionQueue* completion_queue) {
    environment->service.RequestCall(&call->context_, &call->stream_, completion_queue,
                                     completion_queue, &call->arrived_);
  });
}

template <typename Start>
void AdminCall::StartOperation(Start start) {
  if (!queue_->StartOperation(start)) delete this;
}

void AdminCall::OnArrived(bool ok) {
  if (!ok) {  // the server is shut down
    delete this;
    return;
  }
  AwaitCall(environment_, queue_);
  const absl::StatusOr<const AdminService::Method*> method =
      environment_->methods.Find(context_.method());
  if (!method.ok()) return SendError(method.status());
  method_ = *method;
  StartOperation([this](grpc::ServerCompletionQueue*) { stream_.Read(&message_, &read_); });
}

void AdminCall::OnRead(bool ok) {
  if (!ok) return SendError(absl::InvalidArgumentError("Unable to parse request"));
  RunMethod();
}

void AdminCall::RunMethod() {
  absl::StatusOr<BudgetUnits> units = environment_->in_flight_bytes->TakeFairly(
      message_.Length() + kRequestCost, 0, ShareUse::kAdmission);
  if (!units.ok()) return SendError(units.status());
  grpc::Slice request;
  if (!message_.DumpToSingleSlice(&request).ok()) {
    return SendError(absl::InternalError("Unable to read request"));
  }
  message_.Clear();
  // Shared only because functions have to be copyable.
  const auto held = std::make_shared<BudgetUnits>(*std::move(units));
  const auto run = [this, held, request] {
    method_->run(absl::string_view(reinterpret_cast<const char*>(request.begin()), request.size()),
                 [this, held](const absl::Status& status, const std::string& response) {
                   held->Return();
                   if (status.ok()) {
                     SendResponse(response);
                   } else {
                     SendError(status);
                   }
                 });
  };
  if (method_->at_once) return run();
  if (!environment_->executor->TryRun(run)) {
    SendError(
        absl::UnavailableError("too many administration requests at a time: try again later"));
  }
}

void AdminCall::SendResponse(const std::string& response) {
  const grpc::Slice slice(response);
  const grpc::ByteBuffer bytes(&slice, 1);
  StartOperation([&](grpc::ServerCompletionQueue*) {
    stream_.WriteAndFinish(bytes, grpc::WriteOptions(), grpc::Status(), &finished_);
  });
}

void AdminCall::SendError(const absl::Status& error) {
  StartOperation(
      [&](grpc::ServerCompletionQueue*) { stream_.Finish(ToGrpcStatus(error), &finished_); });
}

void AdminCall::OnFinished(bool ok) { delete this; }

}  // namespace nereid
