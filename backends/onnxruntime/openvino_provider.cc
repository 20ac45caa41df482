// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/openvino_provider.h"

#include <onnxruntime_c_api.h>

#if ORT_API_VERSION >= 22

#include <filesystem>
#include <string_view>

#include "backends/onnxruntime/runtime_library.h"

namespace nereid_backend {
namespace {

constexpr uint32_t kApiVersion = 22;  // the first with plug-ins
constexpr const char* kLibrary = "libonnxruntime_providers_openvino_plugin.so";
constexpr std::string_view kName = "OpenVINOExecutionProvider";

const OrtApi* Api() { return Runtime()->GetApi(kApiVersion); }

Error Check(OrtStatus* status) {
  if (status == nullptr) return Error();
  Error error = Error::Internal(
      StrCat("the execution accelerator 'openvino' failed: ", Api()->GetErrorMessage(status)));
  Api()->ReleaseStatus(status);
  return error;
}

bool IsCpu(const OrtEpDevice* device) {
  return Api()->EpDevice_EpName(device) == kName &&
         Api()->HardwareDevice_Type(Api()->EpDevice_Device(device)) == OrtHardwareDeviceType_CPU;
}

}  // namespace

Error OpenVinoProvider::Register(OrtEnv* env) {
  const std::lock_guard<std::mutex> lock(mu_);
  if (registered_) return Error();
  const std::string path = folder_ + "/" + kLibrary;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error::Unsupported(
        StrCat("the execution accelerator 'openvino' is not installed: there is no '", path,
               "' (`make stage BACKENDS=openvino` brings it)"));
  }
  NB_RETURN_IF_ERROR(
      Check(Api()->RegisterExecutionProviderLibrary(env, "nereid_openvino", path.c_str())));
  registered_ = true;
  return Error();
}

Error OpenVinoProvider::Append(OrtEnv* env, OrtSessionOptions* options, const Options& settings) {
  NB_RETURN_IF_ERROR(Register(env));
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  NB_RETURN_IF_ERROR(Check(Api()->GetEpDevices(env, &devices, &count)));
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (const auto& [key, value] : settings) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  for (size_t i = 0; i < count; ++i) {
    if (!IsCpu(devices[i])) continue;
    return Check(Api()->SessionOptionsAppendExecutionProvider_V2(
        options, env, &devices[i], 1, keys.data(), values.data(), keys.size()));
  }
  return Error::Unsupported(
      "the execution accelerator 'openvino' offers no device for this processor; the backend "
      "'openvino' runs ONNX files on it (backend: \"openvino\" default_model_filename: "
      "\"model.onnx\")");
}

}  // namespace nereid_backend

#else

namespace nereid_backend {

Error OpenVinoProvider::Append(OrtEnv*, OrtSessionOptions*, const Options&) {
  return Error::Unsupported(
      "the execution accelerator 'openvino' is not part of this build: ONNX Runtime's headers were "
      "older than 1.22 (tools/versions.env, ONNXRUNTIME_PLUGINS_HEADERS_SUITE)");
}

}  // namespace nereid_backend

#endif
