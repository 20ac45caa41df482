// SPDX-License-Identifier: Apache-2.0
// AdminCall: one call of a method of AdminService: read one message, answer it. A slow method runs
// on the administration executor, and may answer from yet another thread.
#ifndef NEREID_FRONTENDS_GRPC_ADMIN_CALL_H_
#define NEREID_FRONTENDS_GRPC_ADMIN_CALL_H_

#include <absl/status/status.h>

#include <memory>
#include <string>
#include <utility>

#include "base/budget.h"
#include "frontends/grpc/admin_service.h"
#include "frontends/grpc/grpc_call.h"
#include "frontends/grpc/out_message.h"

namespace nereid {

class AdminCall final : public GrpcCall {
 public:
  // `method` outlives the call.
  AdminCall(Origin origin, const AdminService::Method* method)
      : GrpcCall(std::move(origin)), method_(method) {}

  void OnDelivery() override;

 private:
  void OnMessage(std::shared_ptr<ReceivedBody> message) override;
  void OnHalfClose() override;
  void OnCancelled() override {
    if (client_ != nullptr) client_->Leave();
  }

  // Any thread that may take its time, unless the method answers at once.
  void Run(std::shared_ptr<ReceivedBody> message);
  // Any thread, once.
  void Answer(absl::Status status, std::string response);

  const AdminService::Method* const method_;
  bool begun_ = false;
  std::shared_ptr<ControlClient> client_;  // null: the method answers at once, or has not begun
  // Written once, before the call is handed to the loop.
  BudgetUnits tree_;  // pay for the request, until it is answered
  absl::Status status_;
  OutMessage response_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_ADMIN_CALL_H_
