// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/health_watch.h"

#include <string>
#include <utility>

#include "frontends/grpc/tree_cost.h"

namespace nereid {

using health::v1::HealthCheckRequest;
using health::v1::HealthCheckResponse;

void HealthWatch::OnMessage(std::shared_ptr<ReceivedBody> message) {
  if (sent_.has_value()) {
    return SendStatus(
        absl::InternalError("this method takes one message, but the client sent more"));
  }
  HealthCheckRequest request;
  const absl::StatusOr<BudgetUnits> tree = ParseCharged(
      message->text(), environment().server->in_flight_bytes(), message->holder(), &request);
  if (!tree.ok()) return SendStatus(tree.status());
  known_ = request.service().empty() || environment().reflection.HasService(request.service());
  if (!known_) return Send(HealthCheckResponse::SERVICE_UNKNOWN);
  Send(ServingStatus::Now(*environment().server) ? HealthCheckResponse::SERVING
                                                 : HealthCheckResponse::NOT_SERVING);
}

void HealthWatch::OnHalfClose() {
  if (!sent_.has_value()) SendStatus(absl::InvalidArgumentError("Unable to parse request"));
}

void HealthWatch::Send(Status status) {
  if (sent_ == status) return;
  sent_ = status;
  HealthCheckResponse response;
  response.set_status(status);
  SendMessage(OutMessage(response.SerializeAsString()));
}

void HealthWatch::OnSweep(TimePoint now) {
  GrpcCall::OnSweep(now);
  if (ended()) return;
  // A client that does not read hears the latest status once it does.
  if (known_ && stream()->unsent() == 0) {
    Send(environment().serving.Recently(now) ? HealthCheckResponse::SERVING
                                             : HealthCheckResponse::NOT_SERVING);
  }
  if (!connection().announced()) return;
  // At the end of the server connections are announced just before it stops to be ready, so the
  // status is looked at once more.
  if (!std::exchange(last_look_, true)) return;
  SendStatus(absl::UnavailableError("the connection ends: watch over another one"));
}

}  // namespace nereid
