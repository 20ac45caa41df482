#include "frontends/grpc/admin_call.h"

#include <utility>

namespace nereid {

void AdminCall::OnMessage(std::shared_ptr<ReceivedBody> message) {
  if (std::exchange(begun_, true)) {
    return SendStatus(
        absl::InternalError("this method takes one message, but the client sent more"));
  }
  const auto self = std::static_pointer_cast<AdminCall>(shared_from_this());
  const auto run = [self, message] {
    self->method_->run(message->text(), [self, message](absl::Status status, std::string response) {
      self->Answer(std::move(status), std::move(response));
    });
  };
  if (method_->at_once) return run();
  if (!environment().executors.admin->TryRun(run)) {
    SendStatus(
        absl::UnavailableError("too many administration requests at a time: try again later"));
  }
}

void AdminCall::OnHalfClose() {
  if (!begun_) SendStatus(absl::InvalidArgumentError("Unable to parse request"));
}

void AdminCall::Answer(absl::Status status, std::string response) {
  status_ = std::move(status);
  response_ = std::move(response);
  if (OnLoop()) {
    OnDelivery();
  } else {
    Deliver();
  }
}

void AdminCall::OnDelivery() {
  if (status_.ok()) SendMessage(OutMessage(response_));
  SendStatus(status_);
}

}  // namespace nereid
