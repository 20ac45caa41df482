// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/signature.h"

#include <algorithm>

#include "backends/sdk/batch_input.h"

namespace nereid_backend {
namespace {

Shape WithBatch(const ModelConfig& config, Shape dims) {
  if (config.batching()) dims.insert(dims.begin(), -1);
  return dims;
}

ModelTensor Describe(const std::string& name, TRITONSERVER_DataType type, Shape dims) {
  ModelTensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.dims = std::move(dims);
  return tensor;
}

Error CheckTensor(const ModelConfig& config, const char* kind, const std::string& name,
                  TRITONSERVER_DataType type, const Shape& dims) {
  if (type == TRITONSERVER_TYPE_INVALID) {
    return Error::Internal(StrCat("unsupported datatype ", ConfigTypeName(type), " for ", kind,
                                  " '", name, "' for model '", config.name, "'"));
  }
  const size_t rank = dims.size() + (config.batching() ? 1 : 0);
  if (type != TRITONSERVER_TYPE_BYTES || rank <= 1) return Error();
  return Error::Internal(StrCat("Triton only supports 1 dimensional List of String as ", kind,
                                " for '", name, "' for model '", config.name, "'"));
}

Error AddInputs(const ModelConfig& config, Signature* signature) {
  for (const TensorConfig& input : config.inputs) {
    NB_RETURN_IF_ERROR(CheckTensor(config, "input", input.name, input.type, input.model_dims()));
    const Shape dims = input.ragged ? Shape{-1} : WithBatch(config, input.model_dims());
    (input.optional ? signature->defaulted : signature->inputs)
        .push_back(Describe(input.name, input.type, dims));
  }
  NB_ASSIGN_OR_RETURN(const std::vector<BatchInput> rules, BatchInput::ReadAll(config));
  for (const BatchInput& rule : rules) {
    for (const std::string& target : rule.targets()) {
      signature->inputs.push_back(Describe(target, rule.type(), rule.OpenShape()));
    }
  }
  for (const ControlConfig& control : config.controls) {
    NB_RETURN_IF_ERROR(CheckTensor(config, "input", control.input, control.type, {}));
    signature->inputs.push_back(Describe(control.input, control.type, WithBatch(config, Shape{1})));
  }
  return Error();
}

// The value's first name or, for a value without names, one like "OUTPUT__0".
template <typename Value>
std::string NameOf(const Value& value, const char* fallback, size_t index) {
  return value.names.empty() ? StrCat(fallback, "__", index) : value.names[0];
}

template <typename Value>
std::string Example(const char* kind, const std::vector<Value>& values, const char* fallback) {
  std::string text = StrCat(kind, " [ ");
  for (size_t i = 0; i < values.size(); ++i) {
    const bool strings = values[i].kind == ValueKind::kStrings;
    text += StrCat(i > 0 ? ", " : "", "{ name: \"", NameOf(values[i], fallback, i),
                   "\" data_type: ", strings ? "TYPE_STRING" : "TYPE_FP32", " dims: [ -1 ] }");
  }
  if (values.empty()) text += "{ name: \"KEY\" data_type: TYPE_FP32 dims: [ -1 ] }";
  return text + " ]";
}

template <typename Value>
bool AllStrings(const std::vector<Value>& values) {
  return !values.empty() && std::all_of(values.begin(), values.end(), [](const Value& value) {
    return value.kind == ValueKind::kStrings;
  });
}

template <typename Value>
Json ListStrings(const std::vector<Value>& values, const char* fallback) {
  Json::Array list;
  for (size_t i = 0; i < values.size(); ++i) {
    Json added;
    added.Set("name", NameOf(values[i], fallback, i));
    added.Set("data_type", "TYPE_STRING");
    added.Set("dims", JsonInts({-1}));
    list.push_back(std::move(added));
  }
  return list;
}

}  // namespace

Result<Signature> SignatureFromConfig(const ModelConfig& config) {
  Signature signature;
  NB_RETURN_IF_ERROR(AddInputs(config, &signature));
  for (const TensorConfig& output : config.outputs) {
    NB_RETURN_IF_ERROR(
        CheckTensor(config, "output", output.name, output.type, output.model_dims()));
    signature.outputs.push_back(
        Describe(output.name, output.type, WithBatch(config, output.model_dims())));
  }
  for (const StateConfig& state : config.states) {
    NB_RETURN_IF_ERROR(
        CheckTensor(config, "input state", state.input_name, state.type, state.dims));
    const Shape dims = WithBatch(config, state.dims);
    signature.inputs.push_back(Describe(state.input_name, state.type, dims));
    if (config.FindOutput(state.output_name) != nullptr) continue;
    signature.outputs.push_back(Describe(state.output_name, state.type, dims));
  }
  return signature;
}

Result<Json> CompleteConfig(const ModelConfig& config, const Forward& forward) {
  Json json = config.json;
  // A list of strings has no batch dimension.
  const bool may_fill = !config.batching();
  bool filled = true;
  std::string missing;
  if (config.inputs.empty()) {
    filled = may_fill && AllStrings(forward.arguments);
    missing += " " + Example("input", forward.arguments, "INPUT");
    json.Set("input", ListStrings(forward.arguments, "INPUT"));
  }
  if (config.outputs.empty()) {
    filled = filled && may_fill && AllStrings(forward.returned);
    missing += " " + Example("output", forward.returned, "OUTPUT");
    json.Set("output", ListStrings(forward.returned, "OUTPUT"));
  }
  if (filled) return json;
  return Error::InvalidArg(StrCat("unable to complete the configuration of model '", config.name,
                                  "': its file gives ", forward.text,
                                  ", but neither types nor shapes of tensors; write them into "
                                  "config.pbtxt, for instance:",
                                  missing));
}

}  // namespace nereid_backend
