// GrpcServer: the gRPC frontend: inference, administration and health checks on one port. The only
// interface of this folder, and free of the types of the library behind it.
//
// Runs one thread per completion queue. Those threads parse, dispatch and answer; they never wait
// for a model. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_GRPC_SERVER_H_
#define NEREID_FRONTENDS_GRPC_GRPC_SERVER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/spare_executor.h"
#include "server/server.h"

namespace nereid {

enum class GrpcCompression { kNone, kLow, kMedium, kHigh };

// HTTP/2 pings and connection age. Times are milliseconds.
struct GrpcKeepaliveOptions {
  int time_ms = 7'200'000;
  int timeout_ms = 20'000;
  bool permit_without_calls = false;
  int http2_max_pings_without_data = 2;  // 0: no limit
  int http2_min_recv_ping_interval_without_data_ms = 300'000;
  int http2_max_ping_strikes = 2;       // 0: any number
  int max_connection_age_ms = 0;        // 0: no limit
  int max_connection_age_grace_ms = 0;  // 0: no limit
};

// Names of PEM files.
struct GrpcTlsOptions {
  bool enabled = false;
  bool mutual = false;      // clients have to show a certificate, too
  std::string certificate;  // of the server
  std::string key;
  std::string root;  // of the authority that signed the clients' certificates
};

struct GrpcServerOptions {
  std::string address = "0.0.0.0";  // an address or a host name
  uint16_t port = 0;                // 0: any free one, see GrpcServer::port()
  bool reuse_port = false;          // let other processes listen on the same port too
  int infer_threads = 2;            // completion queues, 1 to 128
  int call_pool_size = 8;           // idle call objects kept for reuse, per completion queue
  GrpcCompression response_compression = GrpcCompression::kNone;  // of inference responses
  // Responses of one request that may wait for the client of its stream; beyond, the model's
  // thread that sends them is held back. At least 1.
  int max_response_pool_size = std::numeric_limits<int>::max();
  uint64_t max_waiting_stream_bytes = 16 << 20;  // the same, bytes of one stream
  // A stream whose client takes nothing for so long, while a thread is held back, is cancelled.
  Duration stream_stall_timeout = std::chrono::seconds(60);
  // Calls that a connection may have open at a time, which clients are told and keep to; and
  // requests that a stream may have open, beyond which no more are read. 0: any number.
  int max_connection_requests = 0;
  GrpcKeepaliveOptions keepalive;
  GrpcTlsOptions tls;
};

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
