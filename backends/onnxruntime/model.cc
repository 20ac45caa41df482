#include "backends/onnxruntime/model.h"

#include <algorithm>
#include <filesystem>

#include "backends/onnxruntime/ort_error.h"
#include "backends/onnxruntime/signature.h"
#include "backends/sdk/entry.h"
#include "backends/sdk/graph/autocomplete.h"
#include "backends/sdk/graph/check.h"
#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

// Before the file is read, only the configuration is known: true unless it has an open dimension,
// or tensors whose size depends on more than the number of rows in a batch.
bool ConfiguredShapesFixed(const ModelConfig& config) {
  if (!config.json["batch_input"].items().empty()) return false;
  return std::all_of(config.inputs.begin(), config.inputs.end(), [](const TensorConfig& input) {
    const Shape& dims = input.model_dims();
    return !input.ragged &&
           std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim >= 0; });
  });
}

}  // namespace

Result<std::unique_ptr<OnnxModel>> OnnxModel::Create(TRITONBACKEND_Model* handle) {
  NB_ASSIGN_OR_RETURN(const Environment* environment, BackendStateOf<Environment>(handle));
  NB_ASSIGN_OR_RETURN(ModelConfig config, ReadModelConfig(handle));
  std::unique_ptr<OnnxModel> model(new OnnxModel(*environment, std::move(config)));
  NB_ASSIGN_OR_RETURN(model->path_, model->FindFile());
  NB_ASSIGN_OR_RETURN(model->request_, SessionRequest::FromConfig(model->config_));

  SessionRequest& request = model->request_;
  request.fixed_shapes = ConfiguredShapesFixed(model->config_);
  NB_RETURN_IF_ERROR(model->LoadSession());
  if (model->config_.auto_complete) NB_RETURN_IF_ERROR(model->AutoComplete(handle));
  NB_RETURN_IF_ERROR(CheckConfig(model->config_, model->signature_));
  const bool open_shapes = model->signature_.HasOpenShapes(model->config_.batching()) ||
                           !ConfiguredShapesFixed(model->config_);
  if (open_shapes && request.fixed_shapes) {
    const bool arena = request.arena_enabled();
    const bool pattern = request.pattern_enabled();
    request.fixed_shapes = false;
    if (arena != request.arena_enabled() || pattern != request.pattern_enabled()) {
      NB_RETURN_IF_ERROR(model->LoadSession());
    }
  }
  NB_ASSIGN_OR_RETURN(model->bound_, BoundModel::Bind(model->config_, model->signature_));
  NB_LOG_INFO("model '", model->config_.name, "' version ", model->config_.version,
              ": threads: ", request.ThreadPlan(*environment), "; memory arena ",
              request.arena_enabled() ? "on" : "off", ", memory pattern ",
              request.pattern_enabled() ? "on" : "off");
  return model;
}

Result<std::string> OnnxModel::FindFile() const {
  const std::string name =
      config_.default_model_filename.empty() ? "model.onnx" : config_.default_model_filename;
  std::filesystem::path path(config_.directory);
  path = path / std::to_string(config_.version) / name;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) path /= "model.onnx";
  if (std::filesystem::exists(path, ignored)) return path.string();
  return Error::NotFound(
      StrCat("unable to find '", path.string(), "' for model '", config_.name, "'"));
}

Error OnnxModel::LoadSession() {
  session_ = Ort::Session(nullptr);  // so that only one session is in memory
  return OrtTry(StrCat("failed to load '", path_, "': "), [&]() -> Error {
    NB_ASSIGN_OR_RETURN(const Ort::SessionOptions options, request_.Build(environment_));
    session_ = Ort::Session(environment_.ort(), path_.c_str(), options);
    signature_ = ReadSignature(session_);
    return Error();
  });
}

Error OnnxModel::AutoComplete(TRITONBACKEND_Model* model) {
  NB_ASSIGN_OR_RETURN(
      const Json completed,
      AutoCompleteConfig(config_, signature_, environment_.settings().default_max_batch_size));
  NB_RETURN_IF_ERROR(SetModelConfig(model, completed));
  NB_ASSIGN_OR_RETURN(config_, ReadModelConfig(model));
  return Error();
}

}  // namespace nereid_backend
