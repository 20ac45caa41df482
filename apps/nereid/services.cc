// SPDX-License-Identifier: Apache-2.0
#include "services.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/processors.h"
#include "base/status_macros.h"
#include "base/threads/thread.h"
#include "bound_ports.h"
#include "descriptors.h"
#include "flags/command_line.h"
#include "frontends/http/authority.h"
#include "frontends/tracing/otlp_exporter.h"
#include "frontends/tracing/trace_files.h"

namespace nereid {
namespace {

// Administration threads for all ports. Threads beyond the first two are used only if requests
// hang.
constexpr int kAdminThreads = 2;
constexpr int kMostAdminThreads = 16;
constexpr size_t kMaxWaitingAdminRequests = 256;
// Time for administration requests in progress once no port is open any more, and then for the
// compression of answers that nobody waits for.
constexpr std::chrono::seconds kAdminGrace(1);

// For large compressed bodies, messages and answers: one thread per processor, at most four, so
// that some processors are left to the models. Spare threads keep small bodies from waiting behind
// large ones.
constexpr int kMostCompressionThreads = 4;
constexpr int kMostSpareCompressionThreads = 4;
constexpr size_t kMaxWaitingCompressions = 256;

// `asked` or, if that is 0, one per processor that this process may use, at most `most`.
int ThreadCount(int asked, int most) {
  return asked > 0 ? asked : std::min(UsableProcessors(), most);
}

// Requests that an HTTP/2 connection of the HTTP port may have open: as many as calls of gRPC.
uint32_t HttpStreams(const GrpcServerOptions& grpc) {
  int streams = grpc.http2.max_concurrent_streams;
  if (grpc.max_connection_requests > 0) streams = std::min(streams, grpc.max_connection_requests);
  return static_cast<uint32_t>(streams);
}

}  // namespace

Services::~Services() {
  ClosePorts(server_->clock()->Now());
  // The destructors also wait for jobs that hang, because the frontends and the server, which such
  // jobs use, are destroyed next.
  if (EndRest()) return;
  admin_.reset();
  compression_.reset();
}

absl::Status Services::Start(const Settings& settings) {
  RETURN_IF_ERROR(OpenAccessLog(settings.access_log));
  StartExecutors();
  RETURN_IF_ERROR(StartTracing(settings.trace));
  shared_memory_ = std::make_unique<SharedMemoryRegistry>(settings.allow_client_shared_memory,
                                                          &server_->devices());
  RETURN_IF_ERROR(LoadApiKeys(settings.api_key_file));
  connection_room_ = std::make_shared<transport::ConnectionRoom>(UINT64_MAX);
  SetHttpOptions(settings);
  if (settings.allow_http || settings.sagemaker.listen.allow || settings.vertex_ai.listen.allow) {
    http_frontend_ =
        std::make_unique<HttpFrontend>(server_, executors(), FrontendOptions(settings));
  }
  if (settings.allow_grpc) RETURN_IF_ERROR(StartGrpc(settings));
  if (settings.allow_http) RETURN_IF_ERROR(StartHttp(settings));
  if (settings.tfs.allow_http) RETURN_IF_ERROR(StartTfsHttp(settings));
  if (settings.tfs.allow_grpc) RETURN_IF_ERROR(StartTfsGrpc(settings));
  RETURN_IF_ERROR(StartCloudPorts(settings));
  if (settings.console.allow) RETURN_IF_ERROR(StartConsole(settings));
  if (settings.server.metrics) RETURN_IF_ERROR(StartMetrics(settings));
  if (settings.owner_socket && settings.allow_http) StartOwnerSocket(settings);
  SizeConnectionRoom(settings, connection_room_.get());
  return absl::OkStatus();
}

absl::Status Services::StartTracing(const TraceOptions& options) {
  std::unique_ptr<TraceOutput> output;
  TraceCollector::Limits limits;
  if (options.mode == TraceMode::kOpenTelemetry) {
    ASSIGN_OR_RETURN(std::unique_ptr<HttpSender> sender,
                     MakeCurlSender(options.otlp.url, options.otlp.headers));
    output = std::make_unique<OtlpExporter>(options.otlp, std::move(sender), server_->clock());
    limits.waiting = options.otlp.max_queue_size;
  } else if (!options.file.empty()) {
    output = std::make_unique<TraceFiles>(options.file, MakeLocalTraceStorage());
  } else if (options.settings.level != 0) {
    LOG_WARNING << "nothing is traced, because --trace-config=triton,file=PATH is missing";
  }
  std::shared_ptr<TraceCollector> collector;
  if (output != nullptr) {
    collector = std::make_shared<TraceCollector>(std::move(output), server_->clock(), limits);
  }
  tracing_ = std::make_unique<Tracing>(options, std::move(collector));
  gauges_.Add("nereid_dropped_traces",
              "Traces that were dropped so far because they came faster than they could "
              "be written or sent",
              [raw = tracing_.get()] { return raw->dropped(); });
  return absl::OkStatus();
}

bool Services::EndTracing(TimePoint deadline) {
  return tracing_ == nullptr || tracing_->End(deadline);
}

absl::Status Services::OpenAccessLog(const AccessLog::Options& options) {
  if (options.file.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(access_log_, AccessLog::Open(options, server_->clock()));
  gauges_.Add(
      "nereid_access_log_dropped",
      "Lines of the access log that were dropped so far because they came too fast to be written",
      [log = access_log_.get()] { return log->dropped(); });
  return absl::OkStatus();
}

void Services::ReopenAccessLog() {
  if (access_log_ != nullptr) access_log_->Reopen();
}

void Services::StartExecutors() {
  ThreadPoolOptions admin;
  admin.name = "admin";
  admin.threads = kAdminThreads;
  admin.most_threads = kMostAdminThreads;
  admin.queue_limit = kMaxWaitingAdminRequests;
  admin.clock = server_->clock();
  admin_ = std::make_unique<ThreadPool>(std::move(admin));
  ThreadPoolOptions compression;
  compression.name = "compression";
  compression.threads = ThreadCount(0, kMostCompressionThreads);
  compression.most_threads = compression.threads + kMostSpareCompressionThreads;
  compression.queue_limit = kMaxWaitingCompressions;
  compression.background = true;
  compression.clock = server_->clock();
  compression_ = std::make_unique<ThreadPool>(std::move(compression));
}

absl::Status Services::LoadApiKeys(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<ApiKeys>> keys = ApiKeys::Create(path, server_->clock());
  if (!keys.ok()) {
    return absl::Status(keys.status().code(),
                        absl::StrCat("--api-key-file: ", keys.status().message()));
  }
  api_keys_ = *std::move(keys);
  return absl::OkStatus();
}

GrpcServerOptions Services::GrpcOptions(const Settings& settings) const {
  GrpcServerOptions options = settings.grpc;
  options.connection_room = connection_room_;
  options.infer_threads = ThreadCount(options.infer_threads, kMostGrpcThreads);
  options.max_waiting_stream_bytes = settings.max_waiting_stream_bytes;
  options.max_admin_body_bytes = settings.max_admin_body_bytes;
  options.access =
      AccessControl(settings.grpc_restricted, "triton-grpc-protocol-", "protocol", api_keys_.get());
  options.header_forwarding = settings.grpc_forwarding;
  return options;
}

absl::Status Services::StartGrpc(const Settings& settings) {
  GrpcServerOptions options = GrpcOptions(settings);
  std::shared_ptr<http2::RequestAcceptor> rest;
  options.why_no_rest = WhyNoRestOnGrpcPort(settings);
  if (options.why_no_rest.empty()) rest = MakeHttp2Acceptor(http_options_, http_frontend_.get());
  absl::StatusOr<std::unique_ptr<GrpcServer>> grpc = GrpcServer::Start(
      options, server_, grpc_executors(), shared_memory_.get(), std::move(rest), tracing_.get());
  if (!grpc.ok()) return ServiceFailed("GRPC", grpc.status());
  grpc_ = *std::move(grpc);
  gauges_.Add("nereid_connection_requests_limit",
              "Limit of open calls of a gRPC connection and of requests of a stream, 0 if "
              "there is none",
              [limit = options.max_connection_requests] { return limit; });
  AddGrpcGauges();
  LOG_INFO << "Started GRPCInferenceService at " << options.address << ":" << grpc_->port();
  if (settings.allow_http && !options.why_no_rest.empty()) {
    LOG_INFO << "The gRPC port answers no REST: " << options.why_no_rest;
  }
  return absl::OkStatus();
}

void Services::AddGrpcGauges() {
  GrpcServer* const raw = grpc_.get();
  gauges_.Add("nereid_grpc_connections", "Open gRPC connections",
              [raw] { return raw->connection_count(); });
  gauges_.Add("nereid_grpc_connections_limit", "Limit of open gRPC connections, 0 if there is none",
              [raw] { return raw->connection_limit(); });
  gauges_.Add(
      "nereid_grpc_slow_clients",
      "Calls and connections of the gRPC port that were given up so far because the client sent or "
      "read too slowly",
      [raw] { return raw->slow_clients(); });
  gauges_.Add(
      "nereid_grpc_flooding_clients",
      "Connections of the gRPC port that were ended so far because the client sent too many frames "
      "that cost it nothing",
      [raw] { return raw->flooding_clients(); });
}

CorsPolicy Services::Cors(const Settings& settings) {
  std::vector<std::string> own_names = NamesOfThisMachine();
  // Those by which the operator calls this machine.
  for (const std::string& address :
       {settings.http.address, settings.grpc.address, settings.metrics_address()}) {
    own_names.push_back(address);
  }
  return CorsPolicy(settings.http_origins, std::move(own_names));
}

HttpFrontendOptions Services::FrontendOptions(const Settings& settings) const {
  HttpFrontendOptions options;
  options.limits = settings.http_limits;
  options.health_body = settings.http_health_body;
  options.non_finite = settings.http_non_finite;
  options.max_waiting_bytes = settings.max_waiting_stream_bytes;
  options.max_admin_body_bytes = settings.max_admin_body_bytes;
  options.shared_memory = shared_memory_.get();
  options.tracing = tracing_.get();
  options.access = AccessControl(settings.http_restricted, "", "API", api_keys_.get());
  if (!settings.allow_nereid_api) {
    options.access.CloseUnlessGuarded(
        ApiGroup::kNereid,
        "start the server with --allow-nereid-api=true, or with "
        "--http-restricted-api=nereid:<key>=<value> for clients that know the value");
  }
  options.header_forwarding = settings.http_forwarding;
  options.cors = Cors(settings);
  return options;
}

void Services::SetHttpOptions(const Settings& settings) {
  http_options_ = InferencePortOptions(server_, settings.http);
  http_options_.connection_room = connection_room_;
  http_options_.thread_count = ThreadCount(http_options_.thread_count, kMostHttpThreads);
  http_options_.stall_timeout = http_options_.header_timeout;
  http_options_.note_times = tracing_->on_flag();
  http_options_.http2_streams = HttpStreams(settings.grpc);
  http_options_.http2_control_frames_per_second = settings.grpc.http2.control_frames_per_second;
}

absl::Status Services::StartHttp(const Settings& settings) {
  absl::StatusOr<std::unique_ptr<HttpServer>> http =
      HttpServer::Start(http_options_, http_frontend_.get());
  if (!http.ok()) return ServiceFailed("HTTP", http.status());
  http_ = *std::move(http);
  AddHttpGauges();
  LOG_INFO << "Started HTTPService at " << settings.http.address << ":" << http_->port();
  return absl::OkStatus();
}

void Services::AddHttpGauges() {
  HttpServer* const raw = http_.get();
  gauges_.Add("nereid_http_connections", "Open HTTP connections of the inference port",
              [raw] { return raw->connection_count(); });
  gauges_.Add("nereid_http_connections_limit", "Limit of open HTTP connections, 0 if there is none",
              [limit = http_options_.max_connections] { return limit; });
  gauges_.Add("nereid_http_slow_clients",
              "Clients of the inference port that were given up so far because they sent "
              "or read too slowly",
              [raw] { return raw->slow_clients(); });
  gauges_.Add(
      "nereid_http_flooding_clients",
      "HTTP/2 connections of the inference port that were ended so far because the client sent too "
      "many frames that cost it nothing",
      [raw] { return raw->flooding_clients(); });
}

absl::Status Services::StartTfsHttp(const Settings& settings) {
  tfs_frontend_ =
      std::make_unique<HttpFrontend>(server_, executors(), FrontendOptions(settings), TfsApi());
  HttpServerOptions options = http_options_;
  options.port = settings.tfs.http_port;
  options.bound = settings.tfs.http_bound;
  options.body_split_header.clear();
  absl::StatusOr<std::unique_ptr<HttpServer>> port =
      HttpServer::Start(std::move(options), tfs_frontend_.get());
  if (!port.ok()) return ServiceFailed("TensorFlow Serving HTTP", port.status());
  tfs_http_ = *std::move(port);
  LOG_INFO << "Started TensorFlow Serving HTTPService at " << settings.http.address << ":"
           << tfs_http_->port();
  return absl::OkStatus();
}

absl::Status Services::StartTfsGrpc(const Settings& settings) {
  GrpcServerOptions options = GrpcOptions(settings);
  options.api = GrpcApi::kTensorFlowServing;
  options.port = settings.tfs.grpc_port;
  options.bound = settings.tfs.grpc_bound;
  options.why_no_rest = "the REST API of TensorFlow Serving has the port of --tfs-http-port";
  absl::StatusOr<std::unique_ptr<GrpcServer>> port = GrpcServer::Start(
      options, server_, grpc_executors(), shared_memory_.get(), /*rest=*/nullptr, tracing_.get());
  if (!port.ok()) return ServiceFailed("TensorFlow Serving GRPC", port.status());
  tfs_grpc_ = *std::move(port);
  LOG_INFO << "Started TensorFlow Serving GRPCService at " << options.address << ":"
           << tfs_grpc_->port();
  return absl::OkStatus();
}

absl::Status Services::StartCloudPorts(const Settings& settings) {
  SagemakerSettings sagemaker = settings.sagemaker;
  VertexAiSettings vertex_ai = settings.vertex_ai;
  if (!sagemaker.listen.allow && !vertex_ai.listen.allow) return absl::OkStatus();
  for (CloudPortSettings* listen : {&sagemaker.listen, &vertex_ai.listen}) {
    listen->thread_count = ThreadCount(listen->thread_count, kMostHttpThreads);
  }
  cloud_ports_ =
      std::make_unique<CloudPorts>(server_, http_frontend_.get(), admin_.get(), http_options_);
  if (sagemaker.listen.allow) {
    const absl::Status started = cloud_ports_->StartSagemaker(sagemaker);
    if (!started.ok()) return ServiceFailed("Sagemaker", started);
  }
  if (vertex_ai.listen.allow) {
    const absl::Status started = cloud_ports_->StartVertexAi(vertex_ai);
    if (!started.ok()) return ServiceFailed("Vertex AI", started);
  }
  return absl::OkStatus();
}

absl::Status Services::StartConsole(const Settings& settings) {
  console_ = std::make_unique<ConsolePort>(server_, executors(), FrontendOptions(settings));
  const ShownHttpPort shown{http_port(), settings.http.tls.enabled || settings.http.tls.mutual};
  const absl::Status started = console_->Start(settings.console, http_options_, shown);
  return started.ok() ? started : ServiceFailed("Console", started);
}

void Services::StartOwnerSocket(const Settings& settings) {
  owner_socket_ = std::make_unique<OwnerSocket>(server_, executors(), FrontendOptions(settings));
  const absl::Status started = owner_socket_->Start(http_port(), http_options_);
  if (started.ok()) return;
  owner_socket_.reset();
  LOG_INFO << "nereid top and nereid explain need --allow-nereid-api=true or a key: "
           << started.message();
}

absl::Status Services::StartMetrics(const Settings& s) {
  metrics_endpoint_ = std::make_unique<MetricsEndpoint>(server_, admin_.get(), Cors(s));
  HttpServerOptions options = s.metrics;
  options.address = s.metrics_address();
  options.max_connections = 256;
  options.connection_room = connection_room_;
  options.may_use_reserve = true;
  options.max_body_bytes = 64 << 10;
  options.body_budget = server_->in_flight_bytes();
  options.http2 = false;
  absl::StatusOr<std::unique_ptr<HttpServer>> metrics =
      HttpServer::Start(options, metrics_endpoint_.get());
  if (!metrics.ok()) return ServiceFailed("Metrics", metrics.status());
  metrics_ = *std::move(metrics);
  LOG_INFO << "Started Metrics Service at " << options.address << ":" << metrics_->port();
  return absl::OkStatus();
}

void Services::Announce() {
  if (grpc_ != nullptr) grpc_->Announce();
  if (http_ != nullptr) http_->Announce();
  if (tfs_http_ != nullptr) tfs_http_->Announce();
  if (tfs_grpc_ != nullptr) tfs_grpc_->Announce();
  if (cloud_ports_ != nullptr) cloud_ports_->Announce();
}

void Services::ClosePorts(TimePoint deadline) {
  // Those of gRPC close at the same time as the others, so that neither wait for the other's
  // clients.
  const auto close_grpc = [&] {
    if (grpc_ != nullptr) grpc_->Stop(deadline);
    if (tfs_grpc_ != nullptr) tfs_grpc_->Stop(deadline);
  };
  std::thread grpc_closer;
  try {
    grpc_closer = StartThread({.name = "closing gRPC"}, close_grpc);
  } catch (const std::exception& e) {  // then the ports close one after the other
    LOG_WARNING << "no thread to close the gRPC port: " << e.what();
  }
  if (http_ != nullptr) http_->Stop(deadline);
  if (tfs_http_ != nullptr) tfs_http_->Stop(deadline);
  if (cloud_ports_ != nullptr) cloud_ports_->Stop(deadline);
  if (console_ != nullptr) console_->Stop(deadline);
  if (owner_socket_ != nullptr) owner_socket_->Stop(deadline);
  if (grpc_closer.joinable()) {
    grpc_closer.join();
  } else {
    close_grpc();
  }
}

bool Services::EndRest() {
  gauges_.End();
  if (metrics_ != nullptr) metrics_->Stop(server_->clock()->Now());
  const TimePoint deadline = server_->clock()->Now() + kAdminGrace;
  const bool admin_ended = admin_ == nullptr || admin_->End(deadline);
  const bool compression_ended = compression_ == nullptr || compression_->End(deadline);
  return admin_ended && compression_ended;
}

}  // namespace nereid
