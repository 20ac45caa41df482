// Settings: everything the command line says. Plain values, for the most part the options of the
// server's parts as these define them, so that each default stands once; the flag table fills them
// in (flags/flag_table.h).
#ifndef NEREID_APPS_NEREID_SETTINGS_H_
#define NEREID_APPS_NEREID_SETTINGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "frontends/codec/request_limits.h"
#include "frontends/grpc/grpc_server_options.h"
#include "frontends/http/http_server_options.h"
#include "server/options.h"

namespace nereid {

// I/O threads where the command line does not say how many: one for each processor, at most these.
// Threads beyond the number of processors only take turns: event loops never wait for anything
// else.
inline constexpr int kMostHttpThreads = 8;
inline constexpr int kMostGrpcThreads = 2;

struct Settings {
  // What this program decides by itself, and another that embeds the server otherwise.
  Settings() {
    server.max_model_requests = 32 << 10;
    http.port = 8000;
    http.thread_count = 0;  // as kMostHttpThreads says
    grpc.port = 8001;
    grpc.infer_threads = 0;  // as kMostGrpcThreads says
    grpc.max_connection_requests = 4096;
    metrics.address.clear();  // that of HTTP
    metrics.port = 8002;
  }

  bool help = false;
  bool help_markdown = false;
  ServerOptions server;
  LogSettings log;
  bool allow_http = true;
  HttpServerOptions http;
  RequestLimits http_limits;
  bool allow_grpc = true;
  GrpcServerOptions grpc;
  HttpServerOptions metrics;
  uint64_t max_waiting_stream_bytes = kMaxWaitingStreamBytes;  // of one stream, HTTP or gRPC
  // Of the response cache: [cache][setting]; becomes server.cache_configs.
  std::map<std::string, std::map<std::string, std::string>> cache_settings;
  std::optional<int64_t> response_cache_byte_size;
  // Accepted options that have no effect here, to be named in one warning.
  std::vector<std::string> without_effect;
  // What is to be said of options that are there only for command lines of old; a line each.
  std::vector<std::string> deprecations;

  const std::string& metrics_address() const {
    return metrics.address.empty() ? http.address : metrics.address;
  }
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_SETTINGS_H_
