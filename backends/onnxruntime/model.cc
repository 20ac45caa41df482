// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/model.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "backends/onnxruntime/declared_signature.h"
#include "backends/onnxruntime/needed_part.h"
#include "backends/onnxruntime/ort_error.h"
#include "backends/onnxruntime/signature.h"
#include "backends/sdk/entry.h"
#include "backends/sdk/graph/autocomplete.h"
#include "backends/sdk/graph/check.h"
#include "backends/sdk/log.h"
#include "backends/sdk/model_file.h"

namespace nereid_backend {
namespace {

constexpr const char* kModelFile = "model.onnx";

// True unless the configuration has an open dimension, or tensors whose size depends on more than
// the number of rows in a batch.
bool ConfiguredShapesFixed(const ModelConfig& config) {
  if (!config.json["batch_input"].items().empty()) return false;
  return std::all_of(config.inputs.begin(), config.inputs.end(), [](const TensorConfig& input) {
    const Shape& dims = input.model_dims();
    return !input.ragged &&
           std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim >= 0; });
  });
}

// The outputs that may be asked for, or are states. None: all of the file.
OutputNames ConfiguredOutputs(const ModelConfig& config) {
  OutputNames names;
  if (config.outputs.empty()) return names;
  for (const TensorConfig& output : config.outputs) names.insert(output.name);
  for (const StateConfig& state : config.states) names.insert(state.output_name);
  return names;
}

}  // namespace

Result<std::unique_ptr<OnnxModel>> OnnxModel::Create(TRITONBACKEND_Model* handle) {
  NB_ASSIGN_OR_RETURN(const Environment* environment, BackendStateOf<Environment>(handle));
  NB_ASSIGN_OR_RETURN(ModelConfig config, ReadModelConfig(handle));
  std::unique_ptr<OnnxModel> model(new OnnxModel(*environment, std::move(config)));
  NB_ASSIGN_OR_RETURN(model->path_, model->FindFile());
  NB_ASSIGN_OR_RETURN(model->request_, SessionRequest::FromConfig(model->config_));

  SessionRequest& request = model->request_;
  request.fixed_shapes = model->DeclaresFixedShapes();
  NB_RETURN_IF_ERROR(model->LoadSession());
  if (model->config_.auto_complete) NB_RETURN_IF_ERROR(model->AutoComplete(handle));
  NB_RETURN_IF_ERROR(CheckConfig(model->config_, model->signature_));
  NB_RETURN_IF_ERROR(model->GiveUpFixedShapes());
  NB_ASSIGN_OR_RETURN(model->bound_, BoundModel::Bind(model->config_, model->signature_));
  NB_LOG_INFO("model '", model->config_.name, "' version ", model->config_.version,
              ": threads: ", request.ThreadPlan(*environment), "; memory arena ",
              request.arena_enabled() ? "on" : "off", ", memory pattern ",
              request.pattern_enabled() ? "on" : "off");
  return model;
}

Result<std::string> OnnxModel::FindFile() const {
  const char* const names[] = {kModelFile};
  NB_ASSIGN_OR_RETURN(std::filesystem::path path, FindModelFile(config_, names));
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path.string();
  path /= kModelFile;
  if (std::filesystem::exists(path, ignored)) return path.string();
  return NoModelFile(config_, path);
}

bool OnnxModel::DeclaresFixedShapes() const {
  if (!ConfiguredShapesFixed(config_)) return false;
  const std::optional<Signature> declared = ReadDeclaredSignature(path_);
  if (!declared.has_value()) return false;
  const int64_t max_batch_size =
      config_.auto_complete
          ? ChooseMaxBatchSize(config_, *declared, environment_.settings().default_max_batch_size)
          : config_.max_batch_size;
  return !declared->HasOpenShapes(max_batch_size > 0);
}

Error OnnxModel::GiveUpFixedShapes() {
  if (!request_.fixed_shapes) return Error();
  if (ConfiguredShapesFixed(config_) && !signature_.HasOpenShapes(config_.batching())) {
    return Error();
  }
  const bool arena = request_.arena_enabled();
  const bool pattern = request_.pattern_enabled();
  request_.fixed_shapes = false;
  const bool same = arena == request_.arena_enabled() && pattern == request_.pattern_enabled();
  return same ? Error() : LoadSession();
}

Error OnnxModel::LoadSession() {
  session_ = Ort::Session(nullptr);  // so that only one session is in memory
  return OrtTry(StrCat("failed to load '", path_, "': "), [&]() -> Error {
    NB_ASSIGN_OR_RETURN(const Ort::SessionOptions options, request_.Build(environment_));
    MakeSession(options);
    return Error();
  });
}

void OnnxModel::MakeSession(const Ort::SessionOptions& options) {
  const OutputNames outputs = ConfiguredOutputs(config_);
  std::optional<NeededPart> part;
  // OpenVINO finds what it has cached by the file's path.
  if (!outputs.empty() && !request_.openvino) part = ReadNeededPart(path_, outputs);
  if (!part.has_value()) {
    session_ = Ort::Session(environment_.ort(), path_.c_str(), options);
    signature_ = ReadSignature(session_);
    return;
  }
  session_ = Ort::Session(environment_.ort(), part->model.data(), part->model.size(), options);
  signature_ = ReadSignature(session_);
  AddOutputsLeftOut();
  NB_LOG_INFO("model '", config_.name, "' version ", config_.version, ": ",
              part->operators_left_out, " of ", part->operators,
              " operators are left out, because the outputs in the configuration do not need them");
}

void OnnxModel::AddOutputsLeftOut() {
  const std::optional<Signature> declared = ReadDeclaredSignature(path_);
  if (!declared.has_value()) return;
  for (const ModelTensor& output : declared->outputs) {
    if (signature_.FindOutput(output.name) == nullptr) signature_.outputs.push_back(output);
  }
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
