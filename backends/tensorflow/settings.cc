// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/settings.h"

#include <unistd.h>

#include "backends/sdk/log.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/options.h"
#include "backends/tensorflow/options.h"

namespace nereid_backend {
namespace {

constexpr const char* kWorker = "nereid-tensorflow-worker";

Result<std::string> FindWorker(TRITONBACKEND_Backend* backend) {
  NB_ASSIGN_OR_RETURN(const std::string folder, BackendFolder(backend));
  std::string path = StrCat(folder, "/", kWorker);
  if (access(path.c_str(), X_OK) == 0) return path;
  return Error::NotFound(StrCat("'", path,
                                "' is missing or can not be run; `make stage "
                                "BACKENDS=tensorflow` brings it"));
}

}  // namespace

Result<BackendSettings> BackendSettings::FromJson(const Json& json) {
  NB_ASSIGN_OR_RETURN(const OptionValues given, ReadSettings(kTensorflowOptions, json));
  BackendSettings settings;
  settings.soft_placement = given.Bool("allow-soft-placement").value_or(settings.soft_placement);
  settings.default_max_batch_size = DefaultMaxBatchSize(given);
  settings.load_timeout_seconds =
      given.Integer("load-timeout-seconds").value_or(settings.load_timeout_seconds);
  return settings;
}

Result<std::unique_ptr<BackendSettings>> BackendSettings::Create(TRITONBACKEND_Backend* backend) {
  NB_ASSIGN_OR_RETURN(const Json json, ReadBackendSettings(backend));
  NB_ASSIGN_OR_RETURN(BackendSettings settings, FromJson(json));
  NB_ASSIGN_OR_RETURN(settings.worker, FindWorker(backend));
  settings.budget = ReadCpuBudget();
  NB_LOG_INFO("TensorFlow: a process for each model; ", settings.budget.Describe());
  return std::make_unique<BackendSettings>(std::move(settings));
}

}  // namespace nereid_backend
