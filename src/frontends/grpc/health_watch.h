// SPDX-License-Identifier: Apache-2.0
// HealthWatch: one call of grpc.health.v1.Health/Watch: sends whether the server serves at once,
// and again whenever that has changed.
//
// It never ends by itself, and so nothing waits for it: a client that was told to use another
// connection hears that this one does not serve, and then the end. Runs on its loop's thread.
#ifndef NEREID_FRONTENDS_GRPC_HEALTH_WATCH_H_
#define NEREID_FRONTENDS_GRPC_HEALTH_WATCH_H_

#include <memory>
#include <optional>
#include <utility>

#include "frontends/grpc/grpc_call.h"
#include "health.pb.h"

namespace nereid {

class HealthWatch final : public GrpcCall {
 public:
  explicit HealthWatch(Origin origin) : GrpcCall(std::move(origin)) {}

  // GrpcCall
  void OnSweep(TimePoint now) override;

 private:
  using Status = health::v1::HealthCheckResponse::ServingStatus;

  void OnMessage(std::shared_ptr<ReceivedBody> message) override;
  void OnHalfClose() override;

  // Sends `status` unless the client has it already.
  void Send(Status status);

  bool last_look_ = false;      // the connection ends, and so does the call with the next sweep
  bool known_ = false;          // the service that is watched is one of the server's
  std::optional<Status> sent_;  // none before the request has arrived
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_HEALTH_WATCH_H_
