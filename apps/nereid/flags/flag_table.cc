#include "flags/flag_table.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/status_macros.h"
#include "execution/host_policy.h"

namespace nereid {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

FlagGroup GlobalFlags(Settings* s) {
  return {
      "Server",
      {{"help", "", "", "Print this text and exit.",
        [s](absl::string_view) {
          s->help = true;
          return absl::OkStatus();
        }},
       {"help-markdown", "", "", "Print the options as a Markdown page and exit.",
        [s](absl::string_view) {
          s->help_markdown = true;
          return absl::OkStatus();
        }},
       {"id", "<string>", s->server.server_id, "Name of the server in its metadata.",
        SetString(&s->server.server_id)},
       {"exit-timeout-secs", "<integer>", "30",
        "Seconds that SIGTERM or SIGINT leaves to requests in flight before the server exits "
        "all the same. A negative number counts as 0.",
        [s](absl::string_view value) {
          int64_t seconds = 0;
          absl::Status status = ParseInteger(value, -kMaxInt, kMaxInt, &seconds);
          if (status.ok()) {
            s->server.exit_timeout_secs = static_cast<uint32_t>(std::max<int64_t>(0, seconds));
          }
          return status;
        }},
       {"max-in-flight-bytes", "<integer>", absl::StrCat(s->server.max_in_flight_bytes),
        "Bytes of requests and responses held at a time, over HTTP and gRPC together. What "
        "would exceed it is refused at once (503, UNAVAILABLE), and of the last quarter only small "
        "requests get any, so one request gets at most three quarters. 0: no limit.",
        SetInteger(&s->server.max_in_flight_bytes, 0, kMaxInt64)},
       {"max-in-flight-requests", "<integer>", absl::StrCat(s->server.max_in_flight_requests),
        "Inference requests that clients have open at a time, over HTTP and gRPC together; more "
        "are "
        "refused (503, UNAVAILABLE), first those of streams that have most. 0: no limit.",
        SetInteger(&s->server.max_in_flight_requests, 0, kMaxInt64)},
       {"max-model-requests", "<integer>", absl::StrCat(s->server.max_model_requests),
        "The same of one version of a model; its live sequences count, too. 0: no limit.",
        SetInteger(&s->server.max_model_requests, 0, kMaxInt64)},
       {"max-connection-requests", "<integer>", absl::StrCat(s->max_connection_requests),
        "Calls that a gRPC connection may have open, and requests of a gRPC stream: further ones "
        "wait "
        "unread. An HTTP connection has one at a time. 0: no limit.",
        SetInteger(&s->max_connection_requests, 0, kMaxInt)},
       {"max-waiting-stream-bytes", "<integer>", absl::StrCat(s->max_waiting_stream_bytes),
        "Bytes of one stream (gRPC or server-sent events) that may wait for a client that reads "
        "slowly. Beyond, the model's thread that sends is held back.",
        SetInteger(&s->max_waiting_stream_bytes, 1, kMaxInt64)}}};
}

FlagGroup LogFlags(Settings* s) {
  return {"Logging",
          {{"log-verbose", "<integer>", "0", "Verbose level; 0 switches verbose messages off.",
            [s](absl::string_view value) {
              bool on = false;
              int64_t level = 0;
              if (ParseInteger(value, 0, kMaxInt, &level).ok()) {
                s->log.verbose_level = static_cast<int>(level);
                return absl::OkStatus();
              }
              absl::Status status = ParseBool(value, &on);
              if (status.ok()) s->log.verbose_level = on ? 1 : 0;
              return status;
            }},
           {"log-info", "<boolean>", "true", "Write messages of level INFO (to stdout).",
            SetBool(&s->log.info)},
           {"log-warning", "<boolean>", "true", "Write messages of level WARNING (to stderr).",
            SetBool(&s->log.warning)},
           {"log-error", "<boolean>", "true", "Write messages of level ERROR (to stderr).",
            SetBool(&s->log.error)},
           {"log-format", "<string>", "default", "Layout of a line: default or ISO8601.",
            [s](absl::string_view value) {
              if (value != "default" && value != "ISO8601") {
                return absl::InvalidArgumentError(absl::StrCat(
                    "invalid argument for --log-format: '", value, "' (use default or ISO8601)"));
              }
              s->log.format = value == "default" ? LogFormat::kDefault : LogFormat::kIso8601;
              return absl::OkStatus();
            }},
           {"log-file", "<string>", "",
            "File that all messages are appended to, instead of the console.",
            SetString(&s->log.file)}}};
}

absl::Status SetControlMode(absl::string_view value, ServerOptions* options) {
  const std::string mode = absl::AsciiStrToLower(value);
  if (mode == "none") {
    options->control_mode = ModelControlMode::kNone;
  } else if (mode == "explicit") {
    options->control_mode = ModelControlMode::kExplicit;
  } else if (mode == "poll") {
    options->control_mode = ModelControlMode::kPoll;
  } else {
    return absl::InvalidArgumentError(absl::StrCat("invalid argument for --model-control-mode: '",
                                                   value, "' (use none, poll or explicit)"));
  }
  return absl::OkStatus();
}

FlagGroup RepositoryFlags(Settings* s) {
  ServerOptions* const o = &s->server;
  const FlagSetter add_repository = [o](absl::string_view value) {
    o->model_repositories.insert(std::string(value));
    return absl::OkStatus();
  };
  return {"Model repository",
          {{"model-repository", "<string>", "",
            "Folder of models to serve. Needed; may be given several times.", add_repository},
           {"model-store", "<string>", "", "The same as --model-repository.", add_repository},
           {"exit-on-error", "<boolean>", "true", "Exit when a model fails to load at the start.",
            SetBool(&o->exit_on_error)},
           {"disable-auto-complete-config", "", "",
            "Serve only models whose configuration is complete.",
            [o](absl::string_view) {
              o->auto_complete_config = false;
              return absl::OkStatus();
            }},
           {"strict-model-config", "<boolean>", "false",
            "Deprecated: true is --disable-auto-complete-config.",
            [o](absl::string_view value) {
              bool strict = false;
              absl::Status status = ParseBool(value, &strict);
              if (status.ok()) o->auto_complete_config = !strict;
              return status;
            }},
           {"strict-readiness", "<boolean>", "true",
            "The server is ready only if all its models are.", SetBool(&o->strict_readiness)},
           {"model-control-mode", "<string>", "none",
            "none: all models are loaded at the start. poll: so they are, and what changes in the "
            "repositories is taken up (--repository-poll-secs). explicit: those of --load-model; "
            "clients load and unload models.",
            [o](absl::string_view value) { return SetControlMode(value, o); }},
           {"repository-poll-secs", "<integer>", absl::StrCat(o->repository_poll_secs),
            "Seconds between two looks at the repositories with --model-control-mode=poll. 0: "
            "none.",
            SetInteger(&o->repository_poll_secs, 0, kMaxInt)},
           {"model-namespacing", "<boolean>", "false",
            "Models of the same name in several repositories are different models.",
            SetBool(&o->model_namespacing)},
           {"load-model", "<string>", "",
            "Model to load at the start with --model-control-mode=explicit; '*' alone: all. May "
            "be given several times.",
            [o](absl::string_view value) {
              o->startup_models.insert(std::string(value));
              return absl::OkStatus();
            }},
           {"model-config-name", "<string>", "",
            "Use configs/<name>.pbtxt of a model instead of its config.pbtxt, where it exists.",
            [o](absl::string_view value) {
              if (value.empty()) {
                return absl::InvalidArgumentError("Error: empty argument for --model-config-name");
              }
              o->model_config_name = std::string(value);
              return absl::OkStatus();
            }},
           {"repoagent-directory", "<string>", "../repoagents beside the executable",
            "Folder of repository agents: <name>/libtritonrepoagent_<name>.so.",
            [o](absl::string_view value) {
              if (value.empty()) {
                return absl::InvalidArgumentError("--repoagent-directory can not be empty");
              }
              o->repoagent_directory = std::string(value);
              return absl::OkStatus();
            }},
           {"model-load-thread-count", "<integer>", "4", "Models loaded at a time.",
            SetInteger(&o->model_load_threads, 1, 1024)},
           {"model-load-retry-count", "<integer>", "0", "Further attempts when a load fails.",
            SetInteger(&o->model_load_retries, 0, kMaxInt)},
           {"inline-execution-max-us", "<integer>", absl::StrCat(o->inline_execution_max_us),
            "I/O threads execute models by themselves whose executions are known to take at most "
            "so many microseconds; 0: never.",
            SetInteger(&o->inline_execution_max_us, 0, 10'000)}}};
}

FlagGroup HttpFlags(Settings* s) {
  HttpSettings* const h = &s->http;
  return {
      "HTTP",
      {{"allow-http", "<boolean>", "true", "Serve HTTP/REST.", SetBool(&h->enabled)},
       {"http-address", "<string>", h->address, "Address to listen on.", SetString(&h->address)},
       {"http-port", "<integer>", absl::StrCat(h->port),
        "Port to listen on; 0 picks a free one and prints it.", SetInteger(&h->port, 0, 65535)},
       {"reuse-http-port", "<boolean>", "false", "Let other processes listen on the same port.",
        SetBool(&h->reuse_port)},
       {"http-thread-count", "<integer>", "8, or the number of processors if less", "I/O threads.",
        SetInteger(&h->threads, 1, 1024)},
       {"http-max-input-size", "<integer>", absl::StrCat(h->max_input_size),
        "Bytes of JSON, of raw and of decompressed input of a request. Binary tensors after the "
        "JSON do not count.",
        [h](absl::string_view value) {
          int64_t size = 0;
          absl::Status status = ParseInteger(value, -kMaxInt64, kMaxInt64, &size);
          if (status.ok() && size <= 0) {
            status =
                absl::InvalidArgumentError("Error: --http-max-input-size must be greater than 0.");
          }
          if (status.ok()) h->max_input_size = size;
          return status;
        }},
       {"http-max-body-size", "<integer>", absl::StrCat(h->max_body_size),
        "Bytes of a whole request body; more is refused (413).",
        SetInteger(&h->max_body_size, 1, kMaxInt64)},
       {"http-max-header-size", "<integer>", absl::StrCat(h->max_header_size),
        "Bytes of request line and headers; more is refused (431).",
        SetInteger(&h->max_header_size, 256, 16 << 20)},
       {"http-max-connections", "<integer>", absl::StrCat(h->max_connections),
        "Connections at a time; more are refused (503). 0: no limit.",
        SetInteger(&h->max_connections, 0, kMaxInt)},
       {"http-max-json-depth", "<integer>", absl::StrCat(h->max_json_depth),
        "Nesting of arrays and objects in a request's JSON.",
        SetInteger(&h->max_json_depth, 1, 1000)},
       {"http-header-timeout-secs", "<integer>", absl::StrCat(h->header_timeout_secs),
        "Seconds a client has to send a request's header (408), and a body or response may stall.",
        SetInteger(&h->header_timeout_secs, 1, kMaxInt)},
       {"http-min-rate-bytes-per-sec", "<integer>", absl::StrCat(h->min_rate_bytes_per_sec),
        "Least rate at which a body has to arrive (408) and an answer to be read, after a first "
        "--http-header-timeout-secs. What waits for a model counts as no time. 0: none.",
        SetInteger(&h->min_rate_bytes_per_sec, 0, kMaxInt64)},
       {"http-idle-timeout-secs", "<integer>", absl::StrCat(h->idle_timeout_secs),
        "Seconds that a connection without a request is kept.",
        SetInteger(&h->idle_timeout_secs, 1, kMaxInt)}}};
}

FlagGroup GrpcFlags(Settings* s) {
  GrpcSettings* const g = &s->grpc;
  return {
      "gRPC",
      {{"allow-grpc", "<boolean>", "true", "Serve gRPC.", SetBool(&g->enabled)},
       {"grpc-address", "<string>", g->address, "Address to listen on.", SetString(&g->address)},
       {"grpc-port", "<integer>", absl::StrCat(g->port),
        "Port to listen on; 0 picks a free one and prints it.", SetInteger(&g->port, 0, 65535)},
       {"reuse-grpc-port", "<boolean>", "false", "Let other processes listen on the same port.",
        SetBool(&g->reuse_port)},
       {"grpc-infer-thread-count", "<integer>", "2, or 1 on one processor",
        "Completion queues, each with a thread.",
        [g](absl::string_view value) {
          int64_t count = 0;
          absl::Status status = ParseInteger(value, -kMaxInt, kMaxInt, &count);
          if (status.ok() && (count < 2 || count > 128)) {
            status = absl::InvalidArgumentError(
                "invalid argument for --grpc_infer_thread_count. Must be in the range 2 to 128.");
          }
          if (status.ok()) g->infer_threads = static_cast<int>(count);
          return status;
        }},
       {"grpc-infer-allocation-pool-size", "<integer>", absl::StrCat(g->allocation_pool_size),
        "Call objects that each completion queue keeps for reuse.",
        SetInteger(&g->allocation_pool_size, 1, 1 << 20)},
       {"grpc-max-response-pool-size", "<integer>", absl::StrCat(g->max_response_pool_size),
        "Responses of one request that may wait for a client that reads its stream slowly. Beyond, "
        "the model's thread that sends them is held back.",
        [g](absl::string_view value) {
          int64_t size = 0;
          absl::Status status = ParseInteger(value, -kMaxInt, kMaxInt, &size);
          if (status.ok() && size <= 0) {
            status = absl::InvalidArgumentError(
                "Error: --grpc-max-response-pool-size must be greater than 0.");
          }
          if (status.ok()) g->max_response_pool_size = static_cast<int>(size);
          return status;
        }},
       {"grpc-use-ssl", "<boolean>", "false", "Serve gRPC over TLS.", SetBool(&g->use_ssl)},
       {"grpc-use-ssl-mutual", "<boolean>", "false",
        "TLS with client certificates; giving it turns TLS on.",
        [g](absl::string_view value) {
          absl::Status status = ParseBool(value, &g->use_ssl_mutual);
          if (status.ok()) g->use_ssl = true;
          return status;
        }},
       {"grpc-server-cert", "<string>", "", "File of the PEM server certificate.",
        SetString(&g->server_cert)},
       {"grpc-server-key", "<string>", "", "File of the PEM server key.",
        SetString(&g->server_key)},
       {"grpc-root-cert", "<string>", "", "File of the PEM root certificate.",
        SetString(&g->root_cert)},
       {"grpc-infer-response-compression-level", "<string>", g->compression_level,
        "Compression of inference responses: none, low, medium or high.",
        SetChoice(&g->compression_level, {"none", "low", "medium", "high"},
                  "invalid argument for --grpc_infer_response_compression_level (use none, low, "
                  "medium or high)")},
       {"grpc-keepalive-time", "<integer>", absl::StrCat(g->keepalive_time_ms),
        "Milliseconds between keepalive pings.", SetInteger(&g->keepalive_time_ms, 1, kMaxInt)},
       {"grpc-keepalive-timeout", "<integer>", absl::StrCat(g->keepalive_timeout_ms),
        "Milliseconds to wait for the answer to a ping.",
        SetInteger(&g->keepalive_timeout_ms, 1, kMaxInt)},
       {"grpc-keepalive-permit-without-calls", "<boolean>", "false",
        "Ping also when there are no calls.", SetBool(&g->keepalive_permit_without_calls)},
       {"grpc-http2-max-pings-without-data", "<integer>", absl::StrCat(g->max_pings_without_data),
        "Pings that may be sent without data between them; 0: any number.",
        SetInteger(&g->max_pings_without_data, 0, kMaxInt)},
       {"grpc-http2-min-recv-ping-interval-without-data", "<integer>",
        absl::StrCat(g->min_recv_ping_interval_ms),
        "Milliseconds that clients must leave between pings.",
        SetInteger(&g->min_recv_ping_interval_ms, 0, kMaxInt)},
       {"grpc-http2-max-ping-strikes", "<integer>", absl::StrCat(g->max_ping_strikes),
        "Bad pings tolerated before the connection is closed; 0: any number.",
        SetInteger(&g->max_ping_strikes, 0, kMaxInt)},
       {"grpc-max-connection-age", "<integer>", "0",
        "Milliseconds that a connection may last; 0: for ever.",
        SetInteger(&g->max_connection_age_ms, 0, kMaxInt)},
       {"grpc-max-connection-age-grace", "<integer>", "0",
        "Milliseconds that calls have after that; 0: for ever.",
        SetInteger(&g->max_connection_age_grace_ms, 0, kMaxInt)}}};
}

FlagGroup MetricsFlags(Settings* s) {
  return {"Metrics",
          {{"allow-metrics", "<boolean>", "true", "Collect metrics and serve them.",
            SetBool(&s->server.metrics)},
           {"allow-cpu-metrics", "<boolean>", "true",
            "Include the machine's processor and memory use.", SetBool(&s->server.cpu_metrics)},
           {"metrics-address", "<string>", "that of HTTP", "Address to listen on.",
            SetString(&s->metrics.address)},
           {"metrics-port", "<integer>", absl::StrCat(s->metrics.port),
            "Port to listen on; 0 picks a free one and prints it.",
            SetInteger(&s->metrics.port, 0, 65535)},
           {"metrics-interval-ms", "<integer>", absl::StrCat(s->server.metrics_interval_ms),
            "Milliseconds that a reading of the machine's use is kept.",
            SetInteger(&s->server.metrics_interval_ms, 1, kMaxInt)}}};
}

absl::Status AddBackendConfig(absl::string_view value, BackendSettings* settings) {
  const size_t comma = value.find(',');
  const size_t equals = value.find('=');
  std::string backend;
  absl::string_view setting = value;
  // The comma of a value does not separate a backend name.
  if (comma != absl::string_view::npos && (equals == absl::string_view::npos || comma < equals)) {
    backend = std::string(value.substr(0, comma));
    setting = value.substr(comma + 1);
    if (backend.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("No backend specified. --backend-config option format is <backend "
                       "name>,<setting>=<value> or <setting>=<value>. Got ",
                       value, "\n"));
    }
  }
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(setting, absl::MaxSplits('=', 1));
  if (setting.find('=') == absl::string_view::npos || parts.first.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--backend-config option format is '<backend name>,<setting>=<value>'. Got ", value, "\n"));
  }
  (*settings)[backend][std::string(parts.first)] = std::string(parts.second);
  return absl::OkStatus();
}

FlagGroup BackendFlags(Settings* s) {
  return {
      "Backends",
      {{"backend-directory", "<string>", "../backends beside the executable",
        "Folder of backends: <name>/libtriton_<name>.so.", SetString(&s->server.backend_directory)},
       {"backend-config", "<string>", "",
        "<backend>,<setting>=<value>, or <setting>=<value> for all backends; for instance "
        "default-max-batch-size=8. May be given several times.",
        [s](absl::string_view value) {
          return AddBackendConfig(value, &s->server.backend_settings);
        }}}};
}

absl::Status AddCacheConfig(absl::string_view value, Settings* settings) {
  const size_t comma = value.find(',');
  if (comma == absl::string_view::npos || comma == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("No cache specified. --cache-config option format is <cache "
                     "name>,<setting>=<value>. Got ",
                     value, "\n"));
  }
  const absl::string_view setting = value.substr(comma + 1);
  const size_t equals = setting.find('=');
  if (equals == absl::string_view::npos || equals == 0 || equals + 1 == setting.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--cache-config option format is '<cache name>,<setting>=<value>'. Got ", value, "\n"));
  }
  settings->cache_settings[std::string(value.substr(0, comma))]
                          [std::string(setting.substr(0, equals))] =
      std::string(setting.substr(equals + 1));
  return absl::OkStatus();
}

FlagGroup CacheFlags(Settings* s) {
  return {"Response cache",
          {{"cache-config", "<string>", "",
            "<cache>,<setting>=<value>: use that response cache, with this setting; for instance "
            "local,size=104857600. May be given several times.",
            [s](absl::string_view value) { return AddCacheConfig(value, s); }},
           {"cache-directory", "<string>", "../caches beside the executable",
            "Folder of caches: <name>/libtritoncache_<name>.so.",
            SetString(&s->server.cache_directory)},
           {"response-cache-byte-size", "<integer>", "",
            "Deprecated: n is --cache-config=local,size=n.", [s](absl::string_view value) {
              int64_t size = 0;
              absl::Status status = ParseInteger(value, 0, kMaxInt64, &size);
              if (status.ok()) s->response_cache_byte_size = size;
              return status;
            }}}};
}

absl::Status SetRateLimit(absl::string_view value, ServerOptions* options) {
  const std::string mode = absl::AsciiStrToLower(value);
  if (mode != "execution_count" && mode != "off") {
    return absl::InvalidArgumentError(absl::StrCat("invalid argument for --rate-limit: '", value,
                                                   "' (use execution_count or off)"));
  }
  options->rate_limit = mode == "execution_count";
  return absl::OkStatus();
}

// <name>:<count>[:<device>]
absl::Status AddRateLimit(absl::string_view value, RateLimiterResources* resources) {
  const std::vector<absl::string_view> parts = absl::StrSplit(value, ':');
  if (parts.size() < 2 || parts.size() > 3 || parts[0].empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--rate-limit-resource option format is "
                     "'<resource_name>:<count>:<device>' or '<resource_name>:<count>'. Got ",
                     value));
  }
  int64_t count = 0;
  int64_t device = -1;  // every device
  absl::Status status = ParseInteger(parts[1], 0, kMaxInt, &count);
  if (status.ok() && parts.size() == 3) status = ParseInteger(parts[2], 0, kMaxInt, &device);
  if (status.ok()) {
    AddRateLimiterResource(resources, std::string(parts[0]), static_cast<int>(device),
                           static_cast<uint64_t>(count));
  }
  return status;
}

// <policy>,<setting>=<value>
absl::Status AddHostPolicy(absl::string_view value, ServerOptions* options) {
  const size_t comma = value.find(',');
  const size_t equals = value.find('=');
  if (comma == absl::string_view::npos || equals == absl::string_view::npos || comma == 0 ||
      equals <= comma + 1 || equals + 1 == value.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--host-policy option format is '<policy name>,<setting>=<value>'. Got ", value, "\n"));
  }
  const std::string setting(value.substr(comma + 1, equals - comma - 1));
  RETURN_IF_ERROR(HostPolicy::CheckSetting(setting));
  options->host_policies[std::string(value.substr(0, comma))][setting] =
      std::string(value.substr(equals + 1));
  return absl::OkStatus();
}

FlagGroup InstanceFlags(Settings* s) {
  ServerOptions* const o = &s->server;
  return {
      "Model instances",
      {{"rate-limit", "<string>", "off",
        "execution_count: an instance executes only while it holds the resources that its "
        "rate_limiter names. off: those are not looked at.",
        [o](absl::string_view value) { return SetRateLimit(value, o); }},
       {"rate-limit-resource", "<name>:<count>[:<device>]", "the most that an instance needs",
        "How much there is of a resource on a device, or on every device. May be given several "
        "times; of two counts for the same the smaller one holds.",
        [o](absl::string_view value) { return AddRateLimit(value, &o->rate_limiter_resources); }},
       {"host-policy", "<policy>,<setting>=<value>", "",
        "Where instances run that use this policy: cpu-cores (0-4 or 1,3) for their threads, "
        "numa-node (a number) for their memory. An instance group's host_policy names it; "
        "otherwise it is cpu for KIND_CPU and model for KIND_MODEL. May be given several times.",
        [o](absl::string_view value) { return AddHostPolicy(value, o); }}}};
}

// Accepted, so that existing command lines start, and named in one warning.
FlagGroup DeviceFlags(Settings* s) {
  FlagGroup group{"Without effect (this build has no GPU support)", {}};
  const auto add = [&](const char* name, const char* argument, const char* help) {
    group.flags.push_back({name, argument, "", help, [s, name](absl::string_view) {
                             s->without_effect.push_back(absl::StrCat("--", name));
                             return absl::OkStatus();
                           }});
  };
  add("allow-gpu-metrics", "<boolean>", "GPU metrics.");
  add("enable-peer-access", "<boolean>", "Access between GPUs.");
  add("pinned-memory-pool-byte-size", "<integer>", "Size of the pinned memory pool.");
  add("cuda-memory-pool-byte-size", "<gpu>:<bytes>", "Size of a GPU's memory pool.");
  add("cuda-virtual-address-size", "<gpu>:<bytes>", "Address space for growable state.");
  add("min-supported-compute-capability", "<float>", "Oldest GPU generation to use.");
  add("model-load-gpu-limit", "<gpu>:<fraction>", "GPU memory limit for loading.");
  return group;
}

constexpr std::array kLaterOptions = {"http-header-forward-pattern",
                                      "http-restricted-api",
                                      "grpc-header-forward-pattern",
                                      "grpc-restricted-protocol",
                                      "allow-sagemaker",
                                      "sagemaker-port",
                                      "sagemaker-safe-port-range",
                                      "sagemaker-thread-count",
                                      "allow-vertex-ai",
                                      "vertex-ai-port",
                                      "vertex-ai-thread-count",
                                      "vertex-ai-default-model",
                                      "metrics-config",
                                      "trace-config",
                                      "trace-file",
                                      "trace-level",
                                      "trace-rate",
                                      "trace-count",
                                      "trace-log-frequency",
                                      "buffer-manager-thread-count",
                                      "allow-client-shm"};

}  // namespace

std::vector<FlagGroup> MakeFlagTable(Settings* settings) {
  return {GlobalFlags(settings),  LogFlags(settings),   RepositoryFlags(settings),
          HttpFlags(settings),    GrpcFlags(settings),  MetricsFlags(settings),
          BackendFlags(settings), CacheFlags(settings), InstanceFlags(settings),
          DeviceFlags(settings)};
}

bool IsOptionOfLaterVersion(absl::string_view name) {
  return std::find(kLaterOptions.begin(), kLaterOptions.end(), name) != kLaterOptions.end();
}

}  // namespace nereid
