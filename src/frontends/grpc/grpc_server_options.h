// SPDX-License-Identifier: Apache-2.0
// GrpcServerOptions: the settings of a gRPC server at its start, and what it works with. Plain
// values; their defaults are defined only here.
#ifndef NEREID_FRONTENDS_GRPC_GRPC_SERVER_OPTIONS_H_
#define NEREID_FRONTENDS_GRPC_GRPC_SERVER_OPTIONS_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "base/clock.h"
#include "frontends/access/access_control.h"
#include "frontends/codec/request_limits.h"
#include "frontends/grpc/grpc_api.h"
#include "frontends/header_forwarding/header_forwarding.h"
#include "frontends/transport/tls_options.h"

namespace nereid {

class ThreadPool;

namespace transport {
class BoundAddress;
class ConnectionRoom;
}  // namespace transport

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

// What a client may cost over HTTP/2.
struct GrpcHttp2Options {
  // Frames that cost the client nothing (http2::FloodGuard); 0: any number.
  int control_frames_per_second = 200;
  int max_concurrent_streams = 4096;  // calls that a connection may have open; at least 1
  // A client that takes nothing of an answer, or sends nothing of a message, for this long is given
  // up; also one that moves fewer bytes per second after a first such time, if that is not 0.
  Duration stall_timeout = std::chrono::seconds(60);
  uint64_t min_bytes_per_second = 1024;
  Duration handshake_timeout = std::chrono::seconds(60);  // until the client has begun to speak
};

class AccessLog;

// Executors for work that takes too long for an event loop.
struct GrpcExecutors {
  ThreadPool* admin = nullptr;        // administration
  ThreadPool* compression = nullptr;  // decompression of large messages
  AccessLog* access_log = nullptr;    // writes lines about calls; null: nobody does
};

struct GrpcServerOptions {
  GrpcApi api = GrpcApi::kInference;
  std::string address = "0.0.0.0";  // an address or a host name
  uint16_t port = 0;                // 0: any free one, see GrpcServer::port()
  bool reuse_port = false;          // let other processes listen on the same port too
  // That address, taken already; null: the server takes it at its start.
  std::shared_ptr<transport::BoundAddress> bound;
  int infer_threads = 2;              // event loops, 1 to 128
  int call_pool_size = 8;             // finished calls whose memory a connection keeps for the next
  uint64_t max_connections = 10'000;  // beyond: closed; 0: unlimited
  // Shared with other ports; null: nobody counts the descriptors.
  std::shared_ptr<transport::ConnectionRoom> connection_room;
  GrpcCompression response_compression = GrpcCompression::kNone;  // of inference responses
  // Responses of one request that may wait for the client of its stream; beyond this, the request
  // has no credit for more. At least 1.
  int max_response_pool_size = std::numeric_limits<int>::max();
  uint64_t max_waiting_stream_bytes = kMaxWaitingStreamBytes;  // the same limit in bytes per stream
  // Longest message of an administration method, except for loads, which carry files.
  uint64_t max_admin_body_bytes = kMaxAdminBodyBytes;
  // Calls that a connection may have open at a time, a limit that is announced to clients, which
  // keep to it; and requests that a stream may have open, beyond which no more are read. 0: any
  // number of requests, and as many calls as http2.max_concurrent_streams, which is a limit anyway.
  int max_connection_requests = 0;
  GrpcKeepaliveOptions keepalive;
  GrpcHttp2Options http2;
  transport::TlsOptions tls;
  AccessControl access;
  // Without a handler of REST: why there is none on this port, for those who ask for it.
  std::string why_no_rest = "HTTP is off";
  HeaderForwarding header_forwarding;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_GRPC_SERVER_OPTIONS_H_
