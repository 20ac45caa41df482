// SPDX-License-Identifier: Apache-2.0
// Settings: everything that the command line specifies. Plain values, mostly the options structures
// defined by the server's parts, so that each default is defined once; the flag table fills them in
// (flags/flag_table.h).
#ifndef NEREID_APPS_NEREID_SETTINGS_H_
#define NEREID_APPS_NEREID_SETTINGS_H_

#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "cloud_settings.h"
#include "console_settings.h"
#include "frontends/access/restricted_apis.h"
#include "frontends/codec/non_finite.h"
#include "frontends/codec/request_limits.h"
#include "frontends/grpc/grpc_server_options.h"
#include "frontends/header_forwarding/header_forwarding.h"
#include "frontends/http/health_response.h"
#include "frontends/http/http_server_options.h"
#include "frontends/tracing/trace_options.h"
#include "frontends/transport/bound_address.h"
#include "observe/access/access_log.h"
#include "server/options.h"

namespace nereid {

// I/O threads if the command line does not give a number: one per processor, at most these. More
// threads than processors would only take turns, because event loops never wait for anything else.
inline constexpr int kMostHttpThreads = 8;
inline constexpr int kMostGrpcThreads = 2;

// The ports of TensorFlow Serving's API, at the addresses of HTTP and gRPC.
struct TfsSettings {
  bool allow_http = false;
  uint16_t http_port = 0;                               // 0: any free one
  std::shared_ptr<transport::BoundAddress> http_bound;  // null: not bound yet
  bool allow_grpc = false;
  uint16_t grpc_port = 0;
  std::shared_ptr<transport::BoundAddress> grpc_bound;
};

struct Settings {
  // Defaults of this program, which other programs that embed the server may choose differently.
  Settings() {
    server.max_model_requests = 32 << 10;
    http.port = 8000;
    http.thread_count = 0;  // see kMostHttpThreads
    grpc.port = 8001;
    grpc.infer_threads = 0;  // see kMostGrpcThreads
    grpc.max_connection_requests = 4096;
    metrics.address.clear();  // same as HTTP
    metrics.port = 8002;
    server.recorder_events = 2048;
  }

  bool help = false;
  bool help_all = false;
  bool help_markdown = false;
  bool version = false;
  ServerOptions server;
  std::optional<uint64_t> max_in_flight_bytes;  // as given; none: memory_limit.h chooses
  LogSettings log;
  Duration lame_duck{0};          // how long the server says that it is not ready before it ends
  AccessLog::Options access_log;  // without a file there is none
  bool allow_http = true;
  HttpServerOptions http;
  RequestLimits http_limits;
  HealthBody http_health_body = HealthBody::kJson;
  NonFinite http_non_finite = NonFinite::kLiteral;
  bool allow_grpc = true;
  GrpcServerOptions grpc;
  HttpServerOptions metrics;
  ConsoleSettings console;
  TfsSettings tfs;
  std::set<std::string> http_origins;  // of pages in browsers that may use the API
  RestrictedApis http_restricted;
  RestrictedApis grpc_restricted;
  std::string api_key_file;       // empty: none
  bool allow_nereid_api = false;  // /v2/nereid is open although nobody needs a key for it
  bool owner_socket = true;  // /v2/nereid is open on a Unix socket to the user who runs the server
  HeaderForwarding http_forwarding;
  HeaderForwarding grpc_forwarding;
  bool allow_client_shared_memory = false;
  bool huge_pages = true;  // for the memory of models
  TraceOptions trace;
  absl::Status trace_environment;  // what is wrong with it; counts if traces are sent
  bool trace_off = false;          // --trace-level=off was given
  SagemakerSettings sagemaker;
  absl::Status sagemaker_environment;  // what is wrong with it; counts if the port is opened
  VertexAiSettings vertex_ai;
  absl::Status vertex_ai_environment;                          // likewise
  uint64_t max_waiting_stream_bytes = kMaxWaitingStreamBytes;  // per stream, HTTP or gRPC
  uint64_t max_admin_body_bytes = kMaxAdminBodyBytes;          // of administration, HTTP or gRPC
  // Settings of the response cache: [cache][setting]; become server.cache_configs.
  std::map<std::string, std::map<std::string, std::string>> cache_settings;
  std::optional<int64_t> response_cache_byte_size;
  // What is wrong with the ports of services that may be off, by option; counts if they are on.
  std::map<std::string, absl::Status> port_errors;
  // Accepted options that have no effect here, named in one warning.
  std::vector<std::string> without_effect;
  // Deprecation messages for options kept only for old command lines; one line per option.
  std::vector<std::string> deprecations;

  const std::string& metrics_address() const {
    return metrics.address.empty() ? http.address : metrics.address;
  }
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_SETTINGS_H_
