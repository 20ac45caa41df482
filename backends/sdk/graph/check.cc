// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/graph/check.h"

#include <algorithm>
#include <set>

#include "backends/sdk/batch_input.h"
#include "backends/sdk/batch_output.h"

namespace nereid_backend {
namespace {

// One tensor of the configuration against the model's, which may be missing.
struct Pairing {
  const ModelConfig& config;
  // "input", "output", "state input", "state output", "batch input", "CONTROL_... input"
  std::string kind;
  std::string_view name;
  TRITONSERVER_DataType type;
  const Shape& dims;  // as the model sees them, without batch dimension
  const ModelTensor* tensor;
  const std::vector<ModelTensor>& candidates;

  std::string Subject() const { return StrCat(kind, " '", name, "'"); }
  bool is_output() const { return kind == "output" || kind == "state output"; }
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

// The texts are those of Triton's ONNX backend, because people look for them.
Error CheckBatchDim(const Pairing& pairing) {
  if (!pairing.config.batching() || pairing.tensor->first_is_open()) return Error();
  return Error::InvalidArg(
      StrCat("tensor '", pairing.name,
             "': for the model to support batching the shape should have at least 1 dimension and "
             "the first dimension must be -1; but shape expected by the model is ",
             ShapeToString(pairing.tensor->dims), "; set max_batch_size to 0"));
}

Error CheckScalar(const Pairing& pairing) {
  if (IsOneElement(pairing.dims)) return Error();
  return Error::InvalidArg(
      StrCat("scalar tensor '", pairing.name,
             "', should only provide 1 in the model configuration when the model doesn't support "
             "batching. Model configuration provided: ",
             ShapeToString(pairing.dims), "."));
}

Error CheckDims(const Pairing& pairing) {
  const Shape& model = pairing.tensor->dims;
  if (model.empty()) return CheckScalar(pairing);
  const bool batching = pairing.config.batching();
  Shape full = pairing.dims;
  if (batching) full.insert(full.begin(), -1);
  if (DimsAgree(full, model)) return Error();
  return Error::InvalidArg(StrCat(
      "tensor '", pairing.name, "': the model expects ", model.size(), " dimensions (shape ",
      ShapeToString(model), ") but the model configuration specifies ", full.size(),
      " dimensions (",
      batching ? "an initial batch dimension because max_batch_size > 0 followed by the explicit "
                 "tensor shape, making complete shape "
               : "shape ",
      ShapeToString(full), ")"));
}

Error CheckType(const Pairing& pairing) {
  if (pairing.tensor == nullptr) {
    return Error::InvalidArg(StrCat("unexpected inference ", pairing.Subject(), ", allowed ",
                                    pairing.is_output() ? "outputs" : "inputs",
                                    " are: ", Signature::Names(pairing.candidates)));
  }
  if (!pairing.tensor->is_tensor || pairing.tensor->type == TRITONSERVER_TYPE_INVALID) {
    return Error::Unsupported(StrCat(pairing.Subject(),
                                     " has a type in the model that can not be served",
                                     pairing.tensor->TypeNote()));
  }
  if (pairing.type != pairing.tensor->type) {
    return Error::InvalidArg(StrCat("configuration expects datatype ", ConfigTypeName(pairing.type),
                                    " for ", pairing.Subject(), ", model provides ",
                                    ConfigTypeName(pairing.tensor->type)));
  }
  return Error();
}

Error CheckPairing(const Pairing& pairing) {
  NB_RETURN_IF_ERROR(CheckType(pairing));
  if (pairing.tensor->any_shape) return Error();
  // An output without dims may have any shape, because the model does not specify it.
  const bool unknown_output = pairing.tensor->dims.empty() && pairing.kind == "output";
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

// A control has one element per request.
Error CheckControls(const ModelConfig& config, const Signature& signature) {
  const Shape shape = {1};
  for (const ControlConfig& control : config.controls) {
    NB_RETURN_IF_ERROR(CheckPairing({config, control.kind + " input", control.input, control.type,
                                     shape, signature.FindInput(control.input), signature.inputs}));
  }
  return Error();
}

// A ragged input: the model gets the elements of all requests end to end.
Error CheckRagged(const Pairing& pairing) {
  NB_RETURN_IF_ERROR(CheckType(pairing));
  if (pairing.tensor->any_shape || pairing.tensor->dims == Shape{-1}) return Error();
  return Error::InvalidArg(StrCat(pairing.Subject(),
                                  " has allow_ragged_batch, so that the model gets "
                                  "one dimension of variable size, the elements of all requests; "
                                  "the model has ",
                                  ShapeToString(pairing.tensor->dims)));
}

Error CheckBatchInputs(const ModelConfig& config, const Signature& signature,
                       const std::vector<BatchInput>& batch_inputs) {
  for (const BatchInput& input : batch_inputs) {
    const Shape shape = input.OpenShape();
    for (const std::string& target : input.targets()) {
      const Pairing pairing{config,          "batch input", target,
                            input.type(),    shape,         signature.FindInput(target),
                            signature.inputs};
      NB_RETURN_IF_ERROR(CheckType(pairing));
      if (config.FindInput(target) != nullptr) {
        return Error::InvalidArg(
            StrCat(pairing.Subject(), " is an input of the configuration too"));
      }
      if (pairing.tensor->any_shape || DimsAgree(shape, pairing.tensor->dims)) continue;
      return Error::InvalidArg(StrCat(pairing.Subject(), " has the shape ", ShapeToString(shape),
                                      ", the model has ", ShapeToString(pairing.tensor->dims)));
    }
  }
  return Error();
}

bool IsScattered(const std::vector<BatchOutput>& batch_outputs, const std::string& output) {
  return std::any_of(batch_outputs.begin(), batch_outputs.end(),
                     [&](const BatchOutput& scattered) { return scattered.Has(output); });
}

// Names of the inputs that every request brings or that the server provides.
std::set<std::string> RequiredInputs(const ModelConfig& config, const Signature& signature,
                                     const std::vector<BatchInput>& batch_inputs) {
  std::set<std::string> names;
  for (const TensorConfig& input : config.inputs) {
    const bool defaulted =
        std::any_of(signature.defaulted.begin(), signature.defaulted.end(),
                    [&](const ModelTensor& tensor) { return tensor.name == input.name; });
    if (!defaulted) names.insert(input.name);
  }
  for (const BatchInput& made : batch_inputs) {
    names.insert(made.targets().begin(), made.targets().end());
  }
  for (const ControlConfig& control : config.controls) names.insert(control.input);
  for (const StateConfig& state : config.states) names.insert(state.input_name);
  return names;
}

Error CheckInputs(const ModelConfig& config, const Signature& signature,
                  const std::vector<BatchInput>& batch_inputs) {
  for (const TensorConfig& input : config.inputs) {
    const Pairing pairing{config,
                          "input",
                          input.name,
                          input.type,
                          input.model_dims(),
                          signature.FindInput(input.name),
                          signature.inputs};
    NB_RETURN_IF_ERROR(input.ragged ? CheckRagged(pairing) : CheckPairing(pairing));
  }
  NB_RETURN_IF_ERROR(CheckBatchInputs(config, signature, batch_inputs));
  NB_RETURN_IF_ERROR(CheckControls(config, signature));
  return Error();
}

Error CheckOutputs(const ModelConfig& config, const Signature& signature,
                   const std::vector<BatchOutput>& batch_outputs) {
  for (const TensorConfig& output : config.outputs) {
    const Pairing pairing{config,
                          "output",
                          output.name,
                          output.type,
                          output.model_dims(),
                          signature.FindOutput(output.name),
                          signature.outputs};
    // The model may return a scattered output in any shape: only the order of its elements counts.
    NB_RETURN_IF_ERROR(IsScattered(batch_outputs, output.name) ? CheckType(pairing)
                                                               : CheckPairing(pairing));
  }
  return Error();
}

Error CheckSources(const Signature& signature, const std::set<std::string>& sources) {
  for (const ModelTensor& tensor : signature.inputs) {
    if (sources.count(tensor.name) > 0) continue;
    return Error::InvalidArg(StrCat("input '", tensor.name, "' of the model (",
                                    ConfigTypeName(tensor.type), ", shape ",
                                    ShapeToString(tensor.dims), ") is not in the configuration"));
  }
  return Error();
}

}  // namespace

Error CheckConfig(const ModelConfig& config, const Signature& signature) {
  NB_ASSIGN_OR_RETURN(const std::vector<BatchInput> batch_inputs, BatchInput::ReadAll(config));
  NB_ASSIGN_OR_RETURN(const std::vector<BatchOutput> batch_outputs, BatchOutput::ReadAll(config));
  const std::set<std::string> required = RequiredInputs(config, signature, batch_inputs);
  Error error = CheckInputs(config, signature, batch_inputs);
  if (error.ok()) error = CheckOutputs(config, signature, batch_outputs);
  if (error.ok()) error = CheckStates(config, signature);
  if (error.ok()) error = CheckSources(signature, required);
  if (error.ok()) return error;
  // Triton looks at the numbers first.
  std::string numbers;
  if (required.size() != signature.inputs.size()) {
    numbers = StrCat("configuration expects ", required.size(), " inputs, model provides ",
                     signature.inputs.size(), ": ");
  }
  return Error(error.code(),
               StrCat("unable to load model '", config.name, "', ", numbers, error.message()));
}

}  // namespace nereid_backend
