#include "backends/onnxruntime/check.h"

#include <algorithm>

namespace nereid_backend {
namespace {

// One tensor of the configuration against the model's, which may be missing.
struct Pairing {
  const ModelConfig& config;
  const char* kind;  // "input", "output", "state input", "state output"
  std::string_view name;
  TRITONSERVER_DataType type;
  const Shape& dims;  // as the model sees them, without batch dimension
  const OnnxTensor* tensor;
  const std::vector<OnnxTensor>& candidates;

  std::string Subject() const {
    return StrCat("unable to load model '", config.name, "': ", kind, " '", name, "' ");
  }
};

bool DimsAgree(const Shape& configured, const Shape& model) {
  if (configured.size() != model.size()) return false;
  for (size_t i = 0; i < model.size(); ++i) {
    if (model[i] >= 0 && configured[i] >= 0 && model[i] != configured[i]) return false;
  }
  return true;
}

bool IsOneElement(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](int64_t dim) { return dim == 1; });
}

Error CheckBatchDim(const Pairing& pairing) {
  if (!pairing.config.batching() || pairing.tensor->first_is_open()) return Error();
  return Error::InvalidArg(
      StrCat(pairing.Subject(), "has shape ", ShapeToString(pairing.tensor->dims),
             " in the model, but max_batch_size ", pairing.config.max_batch_size,
             " needs a first dimension that is variable (-1); set max_batch_size to 0"));
}

Error CheckDims(const Pairing& pairing) {
  const Shape& model = pairing.tensor->dims;
  Shape full = pairing.dims;
  if (pairing.config.batching()) full.insert(full.begin(), -1);
  if (DimsAgree(full, model)) return Error();
  // A scalar is sent as one element of one dimension.
  if (model.empty() && IsOneElement(full)) return Error();
  return Error::InvalidArg(
      StrCat(pairing.Subject(), "is configured with shape ", ShapeToString(full),
             pairing.config.batching() ? " (the batch dimension included)" : "", ", the model has ",
             ShapeToString(model)));
}

Error CheckPairing(const Pairing& pairing) {
  if (pairing.tensor == nullptr) {
    return Error::InvalidArg(StrCat(pairing.Subject(), "is not in the model, which has: ",
                                    Signature::Names(pairing.candidates)));
  }
  if (!pairing.tensor->is_tensor || pairing.tensor->type == TRITONSERVER_TYPE_INVALID) {
    return Error::Unsupported(
        StrCat(pairing.Subject(), "has a type in the model that can not be served"));
  }
  if (pairing.type != pairing.tensor->type) {
    return Error::InvalidArg(StrCat(pairing.Subject(), "is configured as ",
                                    ConfigTypeName(pairing.type), ", the model has ",
                                    ConfigTypeName(pairing.tensor->type)));
  }
  // An output without dims may have any shape: the model does not say.
  const bool unknown_output =
      pairing.tensor->dims.empty() && std::string_view(pairing.kind) == "output";
  if (unknown_output) return Error();
  NB_RETURN_IF_ERROR(CheckBatchDim(pairing));
  return CheckDims(pairing);
}

Error CheckStates(const ModelConfig& config, const Signature& signature) {
  for (const StateConfig& state : config.states) {
    NB_RETURN_IF_ERROR(
        CheckPairing({config, "state input", state.input_name, state.type, state.dims,
                      signature.FindInput(state.input_name), signature.inputs}));
    NB_RETURN_IF_ERROR(
        CheckPairing({config, "state output", state.output_name, state.type, state.dims,
                      signature.FindOutput(state.output_name), signature.outputs}));
  }
  return Error();
}

bool HasSource(const ModelConfig& config, const std::string& input) {
  const auto& controls = config.control_inputs;
  return config.FindInput(input) != nullptr ||
         std::find(controls.begin(), controls.end(), input) != controls.end() ||
         std::any_of(config.states.begin(), config.states.end(),
                     [&](const StateConfig& state) { return state.input_name == input; });
}

}  // namespace

Error CheckConfig(const ModelConfig& config, const Signature& signature) {
  if (!config.json["batch_input"].items().empty() || !config.json["batch_output"].items().empty()) {
    return Error::Unsupported(StrCat("unable to load model '", config.name,
                                     "': batch_input and batch_output are not supported by the "
                                     "onnxruntime backend"));
  }
  for (const TensorConfig& input : config.inputs) {
    NB_RETURN_IF_ERROR(CheckPairing({config, "input", input.name, input.type, input.model_dims(),
                                     signature.FindInput(input.name), signature.inputs}));
    if (input.ragged) {
      return Error::Unsupported(StrCat("unable to load model '", config.name, "': input '",
                                       input.name,
                                       "': allow_ragged_batch is not supported by the onnxruntime "
                                       "backend"));
    }
  }
  for (const TensorConfig& output : config.outputs) {
    NB_RETURN_IF_ERROR(
        CheckPairing({config, "output", output.name, output.type, output.model_dims(),
                      signature.FindOutput(output.name), signature.outputs}));
  }
  NB_RETURN_IF_ERROR(CheckStates(config, signature));
  for (const OnnxTensor& tensor : signature.inputs) {
    if (HasSource(config, tensor.name)) continue;
    return Error::InvalidArg(StrCat("unable to load model '", config.name, "': input '",
                                    tensor.name, "' of the model (", ConfigTypeName(tensor.type),
                                    ", shape ", ShapeToString(tensor.dims),
                                    ") is not in the configuration"));
  }
  return Error();
}

}  // namespace nereid_backend
