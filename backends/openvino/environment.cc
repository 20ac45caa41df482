#include "backends/openvino/environment.h"

#include <algorithm>
#include <openvino/core/version.hpp>
#include <openvino/runtime/properties.hpp>

#include "backends/openvino/ov_error.h"
#include "backends/sdk/log.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

Result<BackendSettings> BackendSettings::FromJson(const Json& json) {
  BackendSettings settings;
  if (json.Has("default-max-batch-size")) {
    NB_ASSIGN_OR_RETURN(settings.default_max_batch_size,
                        ParseInt("backend setting 'default-max-batch-size'",
                                 json["default-max-batch-size"].AsString(), 0, INT32_MAX));
  }
  // As in the original: a model that can batch does so, even if only with batches of one.
  settings.default_max_batch_size = std::max<int64_t>(settings.default_max_batch_size, 1);
  settings.cache_dir = json["cache-dir"].AsString();
  return settings;
}

std::shared_ptr<ov::Core> Environment::NewCore() {
  auto core = std::make_shared<ov::Core>();
  // A mapped file that is truncated while being replaced would crash the process.
  core->set_property(ov::enable_mmap(false));
  return core;
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
