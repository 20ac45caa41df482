// Settings: everything the command line says. Plain values; the flag table fills them in
// (flags/flag_table.h) and main.cc hands each part to whom it concerns.
#ifndef NEREID_APPS_NEREID_SETTINGS_H_
#define NEREID_APPS_NEREID_SETTINGS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "server/options.h"

namespace nereid {

struct HttpSettings {
  bool enabled = true;
  std::string address = "0.0.0.0";
  int port = 8000;
  bool reuse_port = false;
  int threads = 0;                    // 0: one for each processor, at most 8
  int64_t max_input_size = 64 << 20;  // bytes of JSON, of decompressed and of raw input
  int64_t max_body_size = std::numeric_limits<int32_t>::max();
  int64_t max_header_size = 64 << 10;
  int64_t max_connections = 10'000;
  int max_json_depth = 100;
  int header_timeout_secs = 60;
  int idle_timeout_secs = 600;
  int64_t min_rate_bytes_per_sec = 1024;  // of bodies and answers under way; 0: none
};

struct GrpcSettings {
  bool enabled = true;
  std::string address = "0.0.0.0";
  int port = 8001;
  bool reuse_port = false;
  int infer_threads = 0;  // 0: one for each processor, at most 2
  int allocation_pool_size = 8;
  int max_response_pool_size = std::numeric_limits<int>::max();
  bool use_ssl = false;
  bool use_ssl_mutual = false;
  std::string server_cert, server_key, root_cert;
  std::string compression_level = "none";
  int keepalive_time_ms = 7'200'000;
  int keepalive_timeout_ms = 20'000;
  bool keepalive_permit_without_calls = false;
  int max_pings_without_data = 2;
  int min_recv_ping_interval_ms = 300'000;
  int max_ping_strikes = 2;
  int max_connection_age_ms = 0;        // 0: no limit
  int max_connection_age_grace_ms = 0;  // 0: no limit
};

struct MetricsSettings {
  std::string address;  // empty: that of HTTP
  int port = 8002;
};

struct Settings {
  // What a program that embeds the server decides by itself.
  Settings() { server.max_model_requests = 32 << 10; }

  bool help = false;
  bool help_markdown = false;
  ServerOptions server;
  int64_t max_waiting_stream_bytes = 16 << 20;  // of one stream, HTTP or gRPC
  int max_connection_requests = 4096;  // of a gRPC connection, and of a stream; 0: no limit
  LogSettings log;
  HttpSettings http;
  GrpcSettings grpc;
  MetricsSettings metrics;
  // Of the response cache: [cache][setting]; becomes server.cache_configs.
  std::map<std::string, std::map<std::string, std::string>> cache_settings;
  std::optional<int64_t> response_cache_byte_size;
  // Accepted options that have no effect here, to be named in one warning.
  std::vector<std::string> without_effect;

  const std::string& metrics_address() const {
    return metrics.address.empty() ? http.address : metrics.address;
  }
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_SETTINGS_H_
