// SPDX-License-Identifier: Apache-2.0
// GrpcServer: the gRPC frontend: inference, administration and health checks on one port. The only
// interface of this folder.
//
// Runs event loops, each on a thread of its own. These threads parse, dispatch and answer; they
// never wait for a model. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_GRPC_SERVER_H_
#define NEREID_FRONTENDS_GRPC_GRPC_SERVER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/threads/thread_pool.h"
#include "frontends/grpc/grpc_server_options.h"
#include "frontends/shared_memory/shared_memory_registry.h"
#include "frontends/tracing/tracing.h"
#include "frontends/transport/http2/request_acceptor.h"
#include "server/server.h"

namespace nereid {

class GrpcServer {
 public:
  // Listens and starts the threads. `server`, `shared_memory` and `tracing` must outlive the
  // result. `executors` must live until the result has stopped, and must end before `server` is
  // destroyed. `rest`, which must live as long, gets the HTTP/2 requests of the port that are not
  // meant for gRPC; null: they are refused. UNAVAILABLE if the port is taken or the address cannot
  // be used, INVALID_ARGUMENT for bad options, NOT_FOUND if a file of `tls` cannot be read.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(
      const GrpcServerOptions& options, Server* server, const GrpcExecutors& executors,
      SharedMemoryRegistry* shared_memory = SharedMemoryRegistry::Closed(),
      std::shared_ptr<http2::RequestAcceptor> rest = nullptr, Tracing* tracing = Tracing::Off());
  // Stops at once, as Stop with a deadline in the past.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // The port on which the server listens.
  uint16_t port() const;
  // Number of inference calls not answered yet.
  int64_t in_flight_calls() const;
  // Connections that are open, and the most there may be; 0: any number.
  uint64_t connection_count() const;
  uint64_t connection_limit() const;
  // Clients that were given up so far because they sent or read too slowly, and those that were
  // ended because they flooded the server.
  uint64_t slow_clients() const;
  uint64_t flooding_clients() const;

  // Tells the clients of all present connections to use others (GOAWAY); what they have begun goes
  // on, and the port stays open. Does not block.
  void Announce();
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
