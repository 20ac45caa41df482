// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/admin_call.h"

#include <utility>

#include "frontends/grpc/tree_cost.h"

namespace nereid {

void AdminCall::OnMessage(std::shared_ptr<ReceivedBody> message) {
  if (std::exchange(begun_, true)) {
    return SendStatus(
        absl::InternalError("this method takes one message, but the client sent more"));
  }
  const auto self = std::static_pointer_cast<AdminCall>(shared_from_this());
  if (method_->at_once) return Run(std::move(message));
  client_ = std::make_shared<ControlClient>();
  const auto run = [self, message = std::move(message)]() mutable {
    self->Run(std::move(message));
  };
  if (!environment().executors.admin->TryRun(run)) {
    SendStatus(
        absl::UnavailableError("too many administration requests at a time: try again later"));
  }
}

void AdminCall::Run(std::shared_ptr<ReceivedBody> message) {
  const std::unique_ptr<google::protobuf::Message> request(method_->request->New());
  absl::StatusOr<BudgetUnits> tree = ParseCharged(
      message->text(), environment().server->in_flight_bytes(), message->holder(), request.get());
  if (!tree.ok()) return Answer(tree.status(), "");
  tree_ = *std::move(tree);
  message.reset();  // what it says is in `request` now
  const auto self = std::static_pointer_cast<AdminCall>(shared_from_this());
  method_->run(request.get(), client_, [self](absl::Status status, std::string response) {
    self->Answer(std::move(status), std::move(response));
  });
}

void AdminCall::OnHalfClose() {
  if (!begun_) SendStatus(absl::InvalidArgumentError("Unable to parse request"));
}

void AdminCall::Answer(absl::Status status, std::string response) {
  status_ = std::move(status);
  if (status_.ok()) response_ = OutMessage(response);
  if (OnLoop()) {
    OnDelivery();
  } else {
    Deliver();
  }
}

void AdminCall::OnDelivery() {
  tree_.Return();
  if (status_.ok()) SendMessage(std::move(response_));
  SendStatus(status_);
}

}  // namespace nereid
