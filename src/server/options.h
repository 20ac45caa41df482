// SPDX-License-Identifier: Apache-2.0
// ServerOptions: all settings that a server gets at its start. Plain values.
#ifndef NEREID_SERVER_OPTIONS_H_
#define NEREID_SERVER_OPTIONS_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "device/device_options.h"
#include "observe/metrics/metrics_config.h"

namespace nereid {

struct BackendEntryPoints;

enum class ModelControlMode { kNone, kPoll, kExplicit, kOnDemand };

// settings[backend][setting] = value; backend "" holds for all backends.
using BackendSettings = std::map<std::string, std::map<std::string, std::string>>;

// counts[resource][device]; device -1 stands for every device.
using RateLimiterResources = std::map<std::string, std::map<int, uint64_t>>;
// If two counts are given for the same resource and device, the smaller one holds.
inline void AddRateLimiterResource(RateLimiterResources* resources, const std::string& name,
                                   int device, uint64_t count) {
  const auto [it, added] = (*resources)[name].try_emplace(device, count);
  if (!added) it->second = std::min(it->second, count);
}

struct ServerOptions {
  std::string server_id = "nereid";
  std::string server_version;  // default: this program's version
  std::set<std::string> model_repositories;
  bool model_namespacing = false;  // repositories may have models of the same name
  // Name of the model whose folder stands in for a repository (repository/single_model.h). Empty:
  // that of its configuration, or of its folder.
  std::string single_model_name;
  ModelControlMode control_mode = ModelControlMode::kNone;
  // kPoll: how often the repositories are looked at. 0: only when PollRepository is called.
  uint32_t repository_poll_secs = 15;
  std::set<std::string> startup_models;  // kExplicit, kOnDemand; "*" alone: all
  // kOnDemand: bytes that the loaded models may take together; 0: no limit.
  uint64_t memory_budget = 0;
  // kOnDemand: a model that nobody has used for so long is unloaded; 0: never.
  uint32_t idle_unload_secs = 0;
  // kOnDemand: how long requests of the frontends wait for their model; 0: they do not.
  uint32_t load_wait_secs = 0;
  std::string footprints_file;  // kOnDemand: where footprints outlive the server; empty: nowhere
  bool auto_complete_config = true;
  std::string model_config_name;
  bool strict_readiness = true;
  bool exit_on_error = true;
  uint32_t exit_timeout_secs = 30;
  uint32_t model_load_threads = 4;
  uint32_t model_load_retries = 0;
  // Limit for executions by I/O threads; 0: none. Default: InlinePolicy::DefaultLimit.
  std::optional<uint32_t> inline_execution_max_us;
  // Models with dynamic batching hold work until this many requests have been in their queue at a
  // time: TRITONSERVER_DELAY_SCHEDULER, with which clients' tests build up a queue. 0: no holding.
  uint32_t hold_until_queued = 0;
  // Models with sequence batching hold work in the same way, and also until this many requests are
  // in their backlog: TRITONSERVER_BACKLOG_DELAY_SCHEDULER.
  uint32_t hold_until_backlogged = 0;
  std::string backend_directory;  // default: ../backends beside the library
  // Sees the functions of each backend before they are called, and may replace them: for programs
  // that check backends. Null: nobody does.
  void (*watch_backend)(BackendEntryPoints* entry_points) = nullptr;
  BackendSettings backend_settings;
  // The program that reads cloud storage (filesystem/cloud/cloud_program.h).
  std::string cloud_program;
  // Where copies of files in cloud storage are kept. Empty: in a folder of this process, which is
  // removed at its end, in cloud_copies_parent; if that is empty, too, in that for temporary files.
  std::string cloud_cache_directory;
  std::string cloud_copies_parent;
  uint64_t cloud_cache_bytes = uint64_t{16} << 30;
  uint32_t cloud_timeout_secs = 60;  // how long a store may be silent
  std::string repoagent_directory;   // default: ../repoagents beside the library
  std::string cache_directory;       // default: ../caches beside the library
  // The response cache's name and its configuration as JSON; empty: no cache. With more than one
  // entry the server fails to start.
  std::map<std::string, std::string> cache_configs;
  bool rate_limit = false;  // instances wait for the resources that their configuration names
  RateLimiterResources rate_limiter_resources;
  // host_policies[policy][setting] = value.
  std::map<std::string, std::map<std::string, std::string>> host_policies;
  DeviceOptions devices;  // GPUs
  bool log_tables =
      false;  // write the backends, and the models and their states, to the log after start
  bool metrics = true;
  bool cpu_metrics = true;
  bool gpu_metrics = true;
  MetricsConfig metrics_config;  // which latencies of models become metrics
  uint64_t metrics_interval_ms = 2000;
  // Requests and executions of each instance that are remembered (observe/record); 0: none, which
  // is the default for programs that use the C API, since only the frontends can show them.
  uint64_t recorder_events = 0;
  // What is remembered is also written to this file (server/traffic_recorder.h); empty: it is not.
  std::string record_file;
  uint64_t record_max_bytes = 1ull << 30;     // the file grows no further
  double record_sample = 1;                   // the share of the requests that are written; (0, 1]
  bool record_tensors = false;                // with the inputs of requests ...
  std::set<std::string> record_secrets;       // ... but not the values of those with these names
  uint64_t max_in_flight_bytes = 4ull << 30;  // input and output bytes of requests; 0: no limit
  // Requests that all clients of the frontends together may have open at a time; 0: no limit.
  uint64_t max_in_flight_requests = 64 << 10;
  // Requests and live sequences per version of a model at a time; 0: no limit, which is the default
  // for programs that use the C API.
  uint64_t max_model_requests = 0;
};

// ServerOptions::hold_until_* from the text of its environment variable; null: not set.
inline uint32_t HoldFromText(const char* text) {
  if (text == nullptr) return 0;
  const long value = std::strtol(text, nullptr, 10);
  return static_cast<uint32_t>(std::clamp(value, 0l, 1l << 30));
}

}  // namespace nereid

#endif  // NEREID_SERVER_OPTIONS_H_
