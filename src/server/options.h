// ServerOptions: everything a server is told at its start. Plain values.
#ifndef NEREID_SERVER_OPTIONS_H_
#define NEREID_SERVER_OPTIONS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace nereid {

enum class ModelControlMode { kNone, kPoll, kExplicit };

// settings[backend][setting] = value; backend "" holds for all backends.
using BackendSettings = std::map<std::string, std::map<std::string, std::string>>;

struct ServerOptions {
  std::string server_id = "nereid";
  std::string server_version;  // default: this program's version
  std::set<std::string> model_repositories;
  ModelControlMode control_mode = ModelControlMode::kNone;
  std::set<std::string> startup_models;  // kExplicit only; "*" alone: all
  bool auto_complete_config = true;
  std::string model_config_name;
  bool strict_readiness = true;
  bool exit_on_error = true;
  uint32_t exit_timeout_secs = 30;
  uint32_t model_load_threads = 4;
  uint32_t model_load_retries = 0;
  uint32_t inline_execution_max_us = 100;  // executions by I/O threads; 0: none
  std::string backend_directory;           // default: ../backends beside the library
  BackendSettings backend_settings;
  bool log_model_table = false;  // write a table of models and states to the log after start
  bool metrics = true;
  bool cpu_metrics = true;
  uint64_t metrics_interval_ms = 2000;
  uint64_t max_in_flight_bytes = 4ull << 30;  // input and output bytes of requests; 0: no limit
};

}  // namespace nereid

#endif  // NEREID_SERVER_OPTIONS_H_
