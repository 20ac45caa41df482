#include "services.h"

#include <absl/strings/str_cat.h>
#include <sched.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr char kConnectionsGauge[] = "nereid_http_connections";
constexpr char kConnectionsLimitGauge[] = "nereid_http_connections_limit";
constexpr char kConnectionRequestsLimitGauge[] = "nereid_connection_requests_limit";
constexpr char kSlowClientsGauge[] = "nereid_http_slow_clients";

// Threads beyond the number of processors only take turns: event loops never wait for anything
// else.
constexpr int kMostHttpThreads = 8;
constexpr int kMostGrpcThreads = 2;

// Of administration, for all ports. Threads beyond the first two only where requests hang.
constexpr int kAdminThreads = 2;
constexpr int kMostAdminThreads = 16;
constexpr size_t kMaxWaitingAdminRequests = 256;
// What requests for administration under way get when no port is open any more, and then the
// compression of answers that nobody waits for.
constexpr std::chrono::seconds kAdminGrace(1);

// For large compressed bodies and answers: one thread for each processor, at most four, so that
// work that takes all of it leaves some to the models. Spare ones for the small among the large.
constexpr int kMostCompressionThreads = 4;
constexpr int kMostSpareCompressionThreads = 4;
constexpr size_t kMaxWaitingCompressions = 256;

// `asked`, or where that is 0 one for each processor that this process may use, at most `most`.
int ThreadCount(int asked, int most) {
  if (asked > 0) return asked;
  cpu_set_t processors;
  CPU_ZERO(&processors);
  if (sched_getaffinity(0, sizeof(processors), &processors) != 0) return most;
  return std::clamp(CPU_COUNT(&processors), 1, most);
}

absl::Status Failed(const char* service, const absl::Status& status) {
  const char* code = status.code() == absl::StatusCode::kUnavailable ? "Unavailable" : "Internal";
  return absl::Status(status.code(), absl::StrCat("failed to start ", service, " service: ", code,
                                                  " - ", status.message()));
}

GrpcCompression Compression(const std::string& level) {
  if (level == "low") return GrpcCompression::kLow;
  if (level == "medium") return GrpcCompression::kMedium;
  if (level == "high") return GrpcCompression::kHigh;
  return GrpcCompression::kNone;
}

}  // namespace

Services::~Services() {
  Drain(server_->clock()->Now());
  // Their destructors wait for what hangs, too: the frontends and the server go next.
  if (Stop()) return;
  admin_.reset();
  compression_.reset();
}

absl::Status Services::Start(const Settings& settings) {
  SpareExecutorOptions admin;
  admin.name = "admin";
  admin.threads = kAdminThreads;
  admin.most_threads = kMostAdminThreads;
  admin.queue_limit = kMaxWaitingAdminRequests;
  admin.clock = server_->clock();
  admin_ = std::make_unique<SpareExecutor>(std::move(admin));
  if (settings.grpc.enabled) RETURN_IF_ERROR(StartGrpc(settings));
  if (settings.http.enabled) RETURN_IF_ERROR(StartHttp(settings));
  if (settings.server.metrics) RETURN_IF_ERROR(StartMetrics(settings));
  return absl::OkStatus();
}

absl::Status Services::StartGrpc(const Settings& settings) {
  const GrpcSettings& s = settings.grpc;
  GrpcServerOptions options;
  options.address = s.address;
  options.port = static_cast<uint16_t>(s.port);
  options.reuse_port = s.reuse_port;
  options.infer_threads = ThreadCount(s.infer_threads, kMostGrpcThreads);
  options.call_pool_size = s.allocation_pool_size;
  options.max_response_pool_size = s.max_response_pool_size;
  options.max_waiting_stream_bytes = static_cast<uint64_t>(settings.max_waiting_stream_bytes);
  options.max_connection_requests = settings.max_connection_requests;
  options.response_compression = Compression(s.compression_level);
  options.keepalive.time_ms = s.keepalive_time_ms;
  options.keepalive.timeout_ms = s.keepalive_timeout_ms;
  options.keepalive.permit_without_calls = s.keepalive_permit_without_calls;
  options.keepalive.http2_max_pings_without_data = s.max_pings_without_data;
  options.keepalive.http2_min_recv_ping_interval_without_data_ms = s.min_recv_ping_interval_ms;
  options.keepalive.http2_max_ping_strikes = s.max_ping_strikes;
  options.keepalive.max_connection_age_ms = s.max_connection_age_ms;
  options.keepalive.max_connection_age_grace_ms = s.max_connection_age_grace_ms;
  options.tls.enabled = s.use_ssl;
  options.tls.mutual = s.use_ssl_mutual;
  options.tls.certificate = s.server_cert;
  options.tls.key = s.server_key;
  options.tls.root = s.root_cert;
  absl::StatusOr<std::unique_ptr<GrpcServer>> grpc =
      GrpcServer::Start(options, server_, admin_.get());
  if (!grpc.ok()) return Failed("GRPC", grpc.status());
  grpc_ = *std::move(grpc);
  server_->gauges()->Add(
      kConnectionRequestsLimitGauge,
      "Limit of open calls of a gRPC connection and of requests of a stream, 0 if "
      "there is none",
      [limit = settings.max_connection_requests] { return static_cast<double>(limit); });
  LOG_INFO << "Started GRPCInferenceService at " << s.address << ":" << grpc_->port();
  return absl::OkStatus();
}

absl::Status Services::StartHttp(const Settings& settings) {
  const HttpSettings& s = settings.http;
  SpareExecutorOptions compression;
  compression.name = "compression";
  compression.threads = ThreadCount(0, kMostCompressionThreads);
  compression.most_threads = compression.threads + kMostSpareCompressionThreads;
  compression.queue_limit = kMaxWaitingCompressions;
  compression.background = true;
  compression.clock = server_->clock();
  compression_ = std::make_unique<SpareExecutor>(std::move(compression));
  http_frontend_ = std::make_unique<HttpFrontend>(
      server_, HttpExecutors{admin_.get(), compression_.get()},
      RequestLimits{static_cast<uint64_t>(s.max_input_size), s.max_json_depth},
      static_cast<uint64_t>(settings.max_waiting_stream_bytes));
  HttpServerOptions options = InferencePortOptions(server_);
  options.address = s.address;
  options.port = static_cast<uint16_t>(s.port);
  options.reuse_port = s.reuse_port;
  options.thread_count = ThreadCount(s.threads, kMostHttpThreads);
  options.max_connections = static_cast<uint64_t>(s.max_connections);
  options.max_header_bytes = static_cast<size_t>(s.max_header_size);
  options.max_body_bytes = static_cast<uint64_t>(s.max_body_size);
  options.header_timeout = std::chrono::seconds(s.header_timeout_secs);
  options.stall_timeout = options.header_timeout;
  options.idle_timeout = std::chrono::seconds(s.idle_timeout_secs);
  options.min_bytes_per_second = static_cast<uint64_t>(s.min_rate_bytes_per_sec);
  absl::StatusOr<std::unique_ptr<HttpServer>> http =
      HttpServer::Start(options, http_frontend_.get());
  if (!http.ok()) return Failed("HTTP", http.status());
  http_ = *std::move(http);
  HttpServer* const raw = http_.get();
  server_->gauges()->Add(kConnectionsGauge, "Open HTTP connections of the inference port",
                         [raw] { return static_cast<double>(raw->connection_count()); });
  server_->gauges()->Add(kConnectionsLimitGauge,
                         "Limit of open HTTP connections, 0 if there is none",
                         [limit = s.max_connections] { return static_cast<double>(limit); });
  server_->gauges()->Add(
      kSlowClientsGauge,
      "Clients of the inference port that were given up so far because they sent "
      "or read too slowly",
      [raw] { return static_cast<double>(raw->slow_clients()); });
  LOG_INFO << "Started HTTPService at " << s.address << ":" << http_->port();
  return absl::OkStatus();
}

absl::Status Services::StartMetrics(const Settings& s) {
  metrics_endpoint_ = std::make_unique<MetricsEndpoint>(server_, admin_.get());
  HttpServerOptions options;
  options.address = s.metrics_address();
  options.port = static_cast<uint16_t>(s.metrics.port);
  options.thread_count = 1;
  options.max_connections = 256;
  options.max_body_bytes = 64 << 10;
  absl::StatusOr<std::unique_ptr<HttpServer>> metrics =
      HttpServer::Start(options, metrics_endpoint_.get());
  if (!metrics.ok()) return Failed("Metrics", metrics.status());
  metrics_ = *std::move(metrics);
  LOG_INFO << "Started Metrics Service at " << options.address << ":" << metrics_->port();
  return absl::OkStatus();
}

void Services::Drain(TimePoint deadline) {
  // Both at the same time: neither waits for the other's clients.
  std::thread grpc_drain;
  try {
    grpc_drain = std::thread([&] {
      if (grpc_ != nullptr) grpc_->Stop(deadline);
    });
  } catch (const std::exception& e) {  // without a thread one after the other
    LOG_WARNING << "no thread to close the gRPC port: " << e.what();
  }
  if (http_ != nullptr) http_->Stop(deadline);
  if (grpc_drain.joinable()) {
    grpc_drain.join();
  } else if (grpc_ != nullptr) {
    grpc_->Stop(deadline);
  }
}

bool Services::Stop() {
  server_->gauges()->Remove(kConnectionsGauge);
  server_->gauges()->Remove(kConnectionsLimitGauge);
  server_->gauges()->Remove(kSlowClientsGauge);
  server_->gauges()->Remove(kConnectionRequestsLimitGauge);
  if (metrics_ != nullptr) metrics_->Stop(server_->clock()->Now());
  const TimePoint deadline = server_->clock()->Now() + kAdminGrace;
  const bool admin_ended = admin_ == nullptr || admin_->End(deadline);
  const bool compression_ended = compression_ == nullptr || compression_->End(deadline);
  return admin_ended && compression_ended;
}

}  // namespace nereid
