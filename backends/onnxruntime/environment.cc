// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/environment.h"

#include "backends/onnxruntime/options.h"
#include "backends/onnxruntime/ort_error.h"
#include "backends/onnxruntime/runtime_library.h"
#include "backends/sdk/log.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/options.h"

namespace nereid_backend {
namespace {

void ORT_API_CALL LogFromRuntime(void*, OrtLoggingLevel severity, const char*, const char*,
                                 const char* location, const char* message) {
  TRITONSERVER_LogLevel level = TRITONSERVER_LOG_VERBOSE;
  if (severity >= ORT_LOGGING_LEVEL_ERROR) {
    level = TRITONSERVER_LOG_ERROR;
  } else if (severity == ORT_LOGGING_LEVEL_WARNING) {
    level = TRITONSERVER_LOG_WARN;
  }
  if (!TRITONSERVER_LogIsEnabled(level)) return;
  LogLine(level, "onnxruntime", 0, StrCat(message, " (", location, ")"));
}

}  // namespace

Result<BackendSettings> BackendSettings::FromJson(const Json& json) {
  NB_ASSIGN_OR_RETURN(const OptionValues given, ReadSettings(kOnnxruntimeOptions, json));
  BackendSettings settings;
  settings.global_pool = given.Bool("enable-global-threadpool").value_or(settings.global_pool);
  settings.intra_op_threads =
      given.Integer("intra_op_thread_count").value_or(settings.intra_op_threads);
  settings.inter_op_threads =
      given.Integer("inter_op_thread_count").value_or(settings.inter_op_threads);
  settings.spinning = given.Bool("session.intra_op.allow_spinning").value_or(settings.spinning);
  settings.default_max_batch_size = DefaultMaxBatchSize(given);
  return settings;
}

Result<std::unique_ptr<Environment>> Environment::Create(TRITONBACKEND_Backend* backend) {
  NB_ASSIGN_OR_RETURN(const Json settings, ReadBackendSettings(backend));
  NB_ASSIGN_OR_RETURN(const std::string folder, BackendFolder(backend));
  return Create(settings, folder);
}

Result<std::unique_ptr<Environment>> Environment::Create(const Json& json,
                                                         const std::string& folder) {
  NB_ASSIGN_OR_RETURN(const OrtApiBase* const runtime, LoadRuntime(folder));
  const OrtApi* api = runtime->GetApi(ORT_API_VERSION);
  if (api == nullptr) {
    return Error::Unsupported(StrCat("ONNX Runtime ", runtime->GetVersionString(),
                                     " is too old: this backend needs its API version ",
                                     ORT_API_VERSION));
  }
  Ort::InitApi(api);
  NB_ASSIGN_OR_RETURN(const BackendSettings settings, BackendSettings::FromJson(json));
  std::unique_ptr<Environment> environment(
      new Environment(settings, ReadCpuBudget(), folder + "/../openvino"));
  const OrtLoggingLevel level = TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_VERBOSE)
                                    ? ORT_LOGGING_LEVEL_INFO
                                    : ORT_LOGGING_LEVEL_WARNING;
  NB_RETURN_IF_ERROR(OrtTry("failed to start ONNX Runtime: ", [&]() -> Error {
    if (!settings.global_pool) {
      environment->env_ = Ort::Env(level, "nereid", &LogFromRuntime, nullptr);
      return Error();
    }
    Ort::ThreadingOptions threads;
    threads.SetGlobalIntraOpNumThreads(static_cast<int>(environment->shared_intra_threads()));
    threads.SetGlobalInterOpNumThreads(static_cast<int>(settings.inter_op_threads));
    threads.SetGlobalSpinControl(settings.spinning ? 1 : 0);
    environment->env_ = Ort::Env(threads, &LogFromRuntime, nullptr, level, "nereid");
    return Error();
  }));
  NB_LOG_INFO("ONNX Runtime ", runtime->GetVersionString(), ": ", environment->budget().Describe(),
              "; ",
              settings.global_pool
                  ? StrCat("one pool for all models, ", environment->shared_intra_threads(),
                           " threads a run, spinning ", settings.spinning ? "on" : "off")
                  : std::string("one pool for each model"));
  return environment;
}

int64_t Environment::shared_intra_threads() const {
  return settings_.intra_op_threads > 0 ? settings_.intra_op_threads : budget_.threads;
}

}  // namespace nereid_backend
