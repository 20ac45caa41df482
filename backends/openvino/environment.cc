// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/environment.h"

#include <algorithm>
#include <openvino/core/version.hpp>
#include <openvino/runtime/properties.hpp>

#include "backends/openvino/options.h"
#include "backends/sdk/log.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/openvino/ov_error.h"
#include "backends/sdk/options.h"

namespace nereid_backend {

Result<BackendSettings> BackendSettings::FromJson(const Json& json) {
  NB_ASSIGN_OR_RETURN(const OptionValues given, ReadSettings(kOpenvinoOptions, json));
  BackendSettings settings;
  // As in Triton: a model that can batch does so, even if only with batches of one.
  settings.default_max_batch_size = std::max<int64_t>(DefaultMaxBatchSize(given), 1);
  settings.cache_dir = given.Text("cache-dir").value_or("");
  return settings;
}

std::shared_ptr<ov::Core> Environment::NewCore() {
  auto core = std::make_shared<ov::Core>();
  // A mapped file that is truncated while being replaced would crash the process.
  core->set_property(ov::enable_mmap(false));
  return core;
}

Result<std::unique_ptr<Environment>> Environment::Create(TRITONBACKEND_Backend* backend) {
  NB_ASSIGN_OR_RETURN(const Json settings, ReadBackendSettings(backend));
  return Create(settings);
}

Result<std::unique_ptr<Environment>> Environment::Create(const Json& json) {
  NB_ASSIGN_OR_RETURN(BackendSettings settings, BackendSettings::FromJson(json));
  std::unique_ptr<Environment> environment(new Environment(std::move(settings), ReadCpuBudget()));
  NB_RETURN_IF_ERROR(OvTry("failed to start OpenVINO: ", [&]() -> Error {
    environment->core_ = NewCore();
    const auto plugin = environment->core_->get_versions("CPU");
    if (plugin.empty()) return Error::Internal("OpenVINO has no CPU plugin");
    return Error();
  }));
  NB_LOG_INFO("OpenVINO ", ov::get_openvino_version().buildNumber, ": ",
              environment->budget().Describe());
  return environment;
}

}  // namespace nereid_backend
