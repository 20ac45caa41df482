// GrpcServer: the gRPC frontend: inference, administration and health checks on one port. The only
// interface of this folder, which does not show the types of the gRPC library.
//
// Runs one thread per completion queue. These threads parse, dispatch and answer; they never wait
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
  // Listens and starts the threads. `server` must outlive the result. `admin`, which runs
  // administration, must live until the result has stopped, and must end before `server` is
  // destroyed. UNAVAILABLE if the port is taken or the address cannot be used, INVALID_ARGUMENT for
  // bad options, NOT_FOUND if a file of `tls` cannot be read.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const GrpcServerOptions& options,
                                                           Server* server, SpareExecutor* admin);
  // Stops at once, as Stop with a deadline in the past.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // The port on which the server listens.
  uint16_t port() const;
  // Number of inference calls not answered yet.
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
