#include "frontends/grpc/admin_call.h"

#include <utility>

#include "base/status_macros.h"
#include "frontends/grpc/status_map.h"

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
  std::string response;
  const absl::Status status =
      ok ? RunMethod(&response) : absl::InvalidArgumentError("Unable to parse request");
  if (!status.ok()) return SendError(status);
  const grpc::Slice slice(response);
  const grpc::ByteBuffer bytes(&slice, 1);
  StartOperation([&](grpc::ServerCompletionQueue*) {
    stream_.WriteAndFinish(bytes, grpc::WriteOptions(), grpc::Status(), &finished_);
  });
}

absl::Status AdminCall::RunMethod(std::string* response) {
  ASSIGN_OR_RETURN(const BudgetUnits units, environment_->in_flight_bytes->Take(message_.Length()));
  grpc::Slice request;
  if (!message_.DumpToSingleSlice(&request).ok()) {
    return absl::InternalError("Unable to read request");
  }
  message_.Clear();
  return (*method_)(
      absl::string_view(reinterpret_cast<const char*>(request.begin()), request.size()), response);
}

void AdminCall::SendError(const absl::Status& error) {
  StartOperation(
      [&](grpc::ServerCompletionQueue*) { stream_.Finish(ToGrpcStatus(error), &finished_); });
}

void AdminCall::OnFinished(bool ok) { delete this; }

}  // namespace nereid
