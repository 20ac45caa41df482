// GrpcServer: the gRPC frontend: inference, administration and health checks on one port. The only
// interface of this folder, and free of the types of the library behind it.
//
// Runs one thread per completion queue. Those threads parse, dispatch and answer; they never wait
// for a model. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_GRPC_SERVER_H_
#define NEREID_FRONTENDS_GRPC_GRPC_SERVER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/spare_executor.h"
#include "frontends/grpc/grpc_server_options.h"
#include "server/server.h"

namespace nereid {

class GrpcServer {
 public:
  // Listens and starts the threads. `server` must outlive the result; `admin`, where administration
  // runs, must be there until the result has stopped, and end before `server` goes. UNAVAILABLE
  // when the port is taken or the address cannot be listened on, INVALID_ARGUMENT for bad options,
  // NOT_FOUND when a file of `tls` cannot be read.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const GrpcServerOptions& options,
                                                           Server* server, SpareExecutor* admin);
  // Stops at once, as Stop with a deadline in the past.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // The port that is listened on.
  uint16_t port() const;
  // Inference calls that are not answered yet.
  int64_t in_flight_calls() const;

  // Refuses new inference, lets calls in flight finish until `deadline` (steady clock), cancels
  // the others, closes all connections and joins the threads. Blocks; a second call does nothing.
  void Stop(TimePoint deadline);

 private:
  class Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_GRPC_SERVER_H_
