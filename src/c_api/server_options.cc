// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_ServerOptions*: the settings for a new server. The log settings are in log.cc.
#include "c_api/server_options.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "base/installation.h"
#include "c_api/handles.h"
#include "c_objects/error.h"
#include "execution/host_policy.h"

using nereid::CaughtError;
using nereid::HostPolicy;
using nereid::ModelControlMode;
using nereid::Text;
using nereid::ToCError;

namespace {

// The installation that this library belongs to; otherwise where Triton has its own.
std::string DefaultFolder(const std::string& kind) {
  const std::filesystem::path folder = nereid::InstalledFolder(nereid::OwnLibrary(), kind);
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return folder.string();
  return "/opt/tritonserver/" + kind;
}

}  // namespace

TRITONSERVER_ServerOptions::TRITONSERVER_ServerOptions() {
  options.server_id = "triton";
  options.control_mode = ModelControlMode::kPoll;
  options.repository_poll_secs = 0;  // the application polls
  options.auto_complete_config = false;
  options.backend_directory = DefaultFolder("backends");
  options.cache_directory = DefaultFolder("caches");
  options.repoagent_directory = DefaultFolder("repoagents");
  options.cloud_program = DefaultFolder("libexec") + "/nereid-cloud";
}

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerOptionsNew(TRITONSERVER_ServerOptions** options) try {
  *options = new TRITONSERVER_ServerOptions;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsDelete(TRITONSERVER_ServerOptions* options) try {
  delete options;
  return nullptr;
} catch (...) {
  return CaughtError();
}

// ---- The server.

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetServerId(TRITONSERVER_ServerOptions* options,
                                                          const char* server_id) try {
  options->options.server_id = std::string(Text(server_id));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetExitOnError(TRITONSERVER_ServerOptions* options,
                                                             bool exit) try {
  options->options.exit_on_error = exit;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStrictReadiness(
    TRITONSERVER_ServerOptions* options, bool strict) try {
  options->options.strict_readiness = strict;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetExitTimeout(TRITONSERVER_ServerOptions* options,
                                                             unsigned int timeout) try {
  options->options.exit_timeout_secs = timeout;
  return nullptr;
} catch (...) {
  return CaughtError();
}

// ---- Models.

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelRepositoryPath(
    TRITONSERVER_ServerOptions* options, const char* model_repository_path) try {
  options->options.model_repositories.emplace(Text(model_repository_path));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelControlMode(
    TRITONSERVER_ServerOptions* options, TRITONSERVER_ModelControlMode mode) try {
  switch (mode) {
    case TRITONSERVER_MODEL_CONTROL_NONE:
      options->options.control_mode = ModelControlMode::kNone;
      return nullptr;
    case TRITONSERVER_MODEL_CONTROL_POLL:
      options->options.control_mode = ModelControlMode::kPoll;
      return nullptr;
    case TRITONSERVER_MODEL_CONTROL_EXPLICIT:
      options->options.control_mode = ModelControlMode::kExplicit;
      return nullptr;
  }
  return ToCError(absl::InvalidArgumentError(
      absl::StrCat("unknown control mode '", static_cast<int>(mode), "'")));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStartupModel(TRITONSERVER_ServerOptions* options,
                                                              const char* model_name) try {
  options->options.startup_models.emplace(Text(model_name));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStrictModelConfig(
    TRITONSERVER_ServerOptions* options, bool strict) try {
  options->options.auto_complete_config = !strict;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelConfigName(
    TRITONSERVER_ServerOptions* options, const char* model_config_name) try {
  options->options.model_config_name = std::string(Text(model_config_name));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadThreadCount(
    TRITONSERVER_ServerOptions* options, unsigned int thread_count) try {
  options->options.model_load_threads = thread_count;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadRetryCount(
    TRITONSERVER_ServerOptions* options, unsigned int retry_count) try {
  options->options.model_load_retries = retry_count;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelNamespacing(
    TRITONSERVER_ServerOptions* options, bool enable_namespace) try {
  options->options.model_namespacing = enable_namespace;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetRepoAgentDirectory(
    TRITONSERVER_ServerOptions* options, const char* repoagent_dir) try {
  options->options.repoagent_directory = std::string(Text(repoagent_dir));
  return nullptr;
} catch (...) {
  return CaughtError();
}

// ---- Instances.

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetRateLimiterMode(
    TRITONSERVER_ServerOptions* options, TRITONSERVER_RateLimitMode mode) try {
  switch (mode) {
    case TRITONSERVER_RATE_LIMIT_OFF:
      options->options.rate_limit = false;
      return nullptr;
    case TRITONSERVER_RATE_LIMIT_EXEC_COUNT:
      options->options.rate_limit = true;
      return nullptr;
  }
  return ToCError(absl::InvalidArgumentError(
      absl::StrCat("unknown rate limit mode '", static_cast<int>(mode), "'")));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsAddRateLimiterResource(
    TRITONSERVER_ServerOptions* options, const char* resource_name, const size_t resource_count,
    const int device) try {
  nereid::AddRateLimiterResource(&options->options.rate_limiter_resources,
                                 std::string(Text(resource_name)), device, resource_count);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetHostPolicy(TRITONSERVER_ServerOptions* options,
                                                            const char* policy_name,
                                                            const char* setting,
                                                            const char* value) try {
  const std::string name(Text(setting));
  if (absl::Status known = HostPolicy::CheckSetting(name); !known.ok()) return ToCError(known);
  options->options.host_policies[std::string(Text(policy_name))][name] = std::string(Text(value));
  return nullptr;
} catch (...) {
  return CaughtError();
}

// ---- Backends.

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBackendDirectory(
    TRITONSERVER_ServerOptions* options, const char* backend_dir) try {
  options->options.backend_directory = std::string(Text(backend_dir));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBackendConfig(TRITONSERVER_ServerOptions* options,
                                                               const char* backend_name,
                                                               const char* setting,
                                                               const char* value) try {
  auto& settings = options->options.backend_settings[std::string(Text(backend_name))];
  settings[std::string(Text(setting))] = std::string(Text(value));
  return nullptr;
} catch (...) {
  return CaughtError();
}

// ---- The response cache.

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCacheDirectory(TRITONSERVER_ServerOptions* options,
                                                                const char* cache_dir) try {
  options->options.cache_directory = std::string(Text(cache_dir));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCacheConfig(TRITONSERVER_ServerOptions* options,
                                                             const char* cache_name,
                                                             const char* config_json) try {
  options->options.cache_configs[std::string(Text(cache_name))] = std::string(Text(config_json));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetResponseCacheByteSize(
    TRITONSERVER_ServerOptions* options, uint64_t size) try {
  if (size == 0) return nullptr;
  return TRITONSERVER_ServerOptionsSetCacheConfig(options, "local",
                                                  absl::StrCat("{\"size\": ", size, "}").c_str());
} catch (...) {
  return CaughtError();
}

// ---- Metrics.

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetrics(TRITONSERVER_ServerOptions* options,
                                                         bool metrics) try {
  options->options.metrics = metrics;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCpuMetrics(TRITONSERVER_ServerOptions* options,
                                                            bool cpu_metrics) try {
  options->options.cpu_metrics = cpu_metrics;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetricsInterval(
    TRITONSERVER_ServerOptions* options, uint64_t metrics_interval_ms) try {
  options->options.metrics_interval_ms = metrics_interval_ms;
  return nullptr;
} catch (...) {
  return CaughtError();
}

// ---- GPUs and their memory.

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetGpuMetrics(TRITONSERVER_ServerOptions* options,
                                                            bool gpu_metrics) try {
  options->options.gpu_metrics = gpu_metrics;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetPinnedMemoryPoolByteSize(
    TRITONSERVER_ServerOptions* options, uint64_t size) try {
  options->options.devices.pinned_pool_bytes = size;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCudaMemoryPoolByteSize(
    TRITONSERVER_ServerOptions* options, int gpu_device, uint64_t size) try {
  options->options.devices.gpu_pool_bytes[gpu_device] = size;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMinSupportedComputeCapability(
    TRITONSERVER_ServerOptions* options, double cc) try {
  options->options.devices.min_compute_capability = cc;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadDeviceLimit(
    TRITONSERVER_ServerOptions* options, const TRITONSERVER_InstanceGroupKind kind,
    const int device_id, const double fraction) try {
  if (device_id < 0) {
    return ToCError(
        absl::InvalidArgumentError(absl::StrCat("expects device ID >= 0, got ", device_id)));
  }
  if (!(fraction >= 0.0 && fraction <= 1.0)) {
    return ToCError(absl::InvalidArgumentError(
        absl::StrFormat("expects limit fraction to be in range [0.0, 1.0], got %f", fraction)));
  }
  if (kind != TRITONSERVER_INSTANCEGROUPKIND_GPU) {
    return ToCError(absl::InvalidArgumentError(absl::StrCat(
        "given device kind is not supported, got: ", TRITONSERVER_InstanceGroupKindString(kind))));
  }
  options->options.devices.load_limits[device_id] = fraction;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCudaVirtualAddressSize(
    TRITONSERVER_ServerOptions* options, int gpu_device, size_t cuda_virtual_address_size) try {
  options->options.devices.address_bytes[gpu_device] = cuda_virtual_address_size;
  return nullptr;
} catch (...) {
  return CaughtError();
}

// ---- About copies to and from GPUs that this server does not make, so these settings do nothing;
// programs that use them run all the same.

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetEnablePeerAccess(
    TRITONSERVER_ServerOptions* options, bool enable_peer_access) try {
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBufferManagerThreadCount(
    TRITONSERVER_ServerOptions* options, unsigned int thread_count) try {
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
