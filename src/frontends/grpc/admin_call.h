// AdminCall: one call of a method that has no entry of its own in the service, from waiting for the
// call to its end. Administration is rare, so these calls take the generic path: read, answer,
// done.
//
// Owned by itself; lives on the thread of its queue. A slow method runs on the administration
// executor, and may answer from yet another thread.
#ifndef NEREID_FRONTENDS_GRPC_ADMIN_CALL_H_
#define NEREID_FRONTENDS_GRPC_ADMIN_CALL_H_

#include <absl/status/status.h>
#include <grpcpp/generic/async_generic_service.h>

#include <memory>
#include <string>

#include "base/budget.h"
#include "base/spare_executor.h"
#include "frontends/grpc/admin_service.h"
#include "frontends/grpc/call_queue.h"
#include "frontends/grpc/completion_tag.h"

namespace nereid {

// Shared by the server and the calls under way. Thread-safe.
struct AdminEnvironment {
  AdminEnvironment(Server* server, SpareExecutor* executor)
      : methods(server), executor(executor), in_flight_bytes(server->in_flight_bytes()) {}

  const AdminService methods;
  SpareExecutor* const executor;  // runs methods that do not answer at once
  Budget* const in_flight_bytes;
  grpc::AsyncGenericService service;
};

class AdminCall {
 public:
  // Waits for one more call on `queue`. Does nothing if the queue is stopped.
  static void AwaitCall(const std::shared_ptr<AdminEnvironment>& environment,
                        const std::shared_ptr<CallQueue>& queue);

  AdminCall(const AdminCall&) = delete;
  AdminCall& operator=(const AdminCall&) = delete;

 private:
  AdminCall(std::shared_ptr<AdminEnvironment> environment, std::shared_ptr<CallQueue> queue)
      : environment_(std::move(environment)), queue_(std::move(queue)), stream_(&context_) {}

  // ---- Events.
  void OnArrived(bool ok);
  void OnRead(bool ok);
  void OnFinished(bool ok);

  void RunMethod();
  // Any thread, once.
  void SendResponse(const std::string& response);
  void SendError(const absl::Status& error);
  // Runs `start`, or ends the call if the queue is stopped.
  template <typename Start>
  void StartOperation(Start start);

  const std::shared_ptr<AdminEnvironment> environment_;
  const std::shared_ptr<CallQueue> queue_;
  MemberTag<AdminCall, &AdminCall::OnArrived> arrived_{this};
  MemberTag<AdminCall, &AdminCall::OnRead> read_{this};
  MemberTag<AdminCall, &AdminCall::OnFinished> finished_{this};
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_;
  const AdminService::Method* method_ = nullptr;
  grpc::ByteBuffer message_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_ADMIN_CALL_H_
