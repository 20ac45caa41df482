#include "backends/tensorflow/settings.h"

#include <unistd.h>

#include "backends/sdk/log.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {
namespace {

constexpr const char* kWorker = "nereid-tensorflow-worker";

Result<std::string> FindWorker(TRITONBACKEND_Backend* backend) {
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  const char* folder = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_BackendArtifacts(backend, &type, &folder));
  std::string path = StrCat(folder, "/", kWorker);
  if (access(path.c_str(), X_OK) == 0) return path;
  return Error::NotFound(StrCat("'", path,
                                "' is missing or can not be run; `make stage "
                                "BACKENDS=tensorflow` brings it"));
}

}  // namespace

Result<BackendSettings> BackendSettings::FromJson(const Json& json) {
  BackendSettings settings;
  if (json.Has("allow-soft-placement")) {
    NB_ASSIGN_OR_RETURN(settings.soft_placement,
                        ParseBool("backend setting 'allow-soft-placement'",
                                  json["allow-soft-placement"].AsString()));
  }
  if (json.Has("default-max-batch-size")) {
    NB_ASSIGN_OR_RETURN(settings.default_max_batch_size,
                        ParseInt("backend setting 'default-max-batch-size'",
                                 json["default-max-batch-size"].AsString(), 0, INT32_MAX));
  }
  if (json.Has("version")) {
    NB_RETURN_IF_ERROR(
        ParseInt("backend setting 'version'", json["version"].AsString(), 2, 2).TakeError());
  }
  if (json.Has("gpu-memory-fraction")) {
    NB_LOG_INFO("tensorflow: backend setting 'gpu-memory-fraction' has no effect on CPU");
  }
  return settings;
}

Result<std::unique_ptr<BackendSettings>> BackendSettings::Read(TRITONBACKEND_Backend* backend) {
  NB_ASSIGN_OR_RETURN(const Json json, ReadBackendSettings(backend));
  NB_ASSIGN_OR_RETURN(BackendSettings settings, FromJson(json));
  NB_ASSIGN_OR_RETURN(settings.worker, FindWorker(backend));
  settings.budget = ReadCpuBudget();
  NB_LOG_INFO("TensorFlow: a process for each model; ", settings.budget.Describe());
  return std::make_unique<BackendSettings>(std::move(settings));
}

}  // namespace nereid_backend
