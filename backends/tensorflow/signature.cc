// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/signature.h"

#include <algorithm>
#include <set>
#include <string>

#include "backends/tensorflow/data_types.h"

namespace nereid_backend {
namespace {

using nereid_tensorflow::LoadReply;
using nereid_tensorflow::ModelFormat;
using nereid_tensorflow::TensorDescription;

ModelTensor ToModelTensor(const TensorDescription& description) {
  ModelTensor tensor;
  tensor.name = description.name;
  tensor.type = FromTensorflowType(description.type);
  tensor.any_shape = !description.rank_known;
  tensor.dims = description.dims;
  return tensor;
}

// Inputs that the configuration names, whether clients or the server provide them.
std::set<std::string> NamedInputs(const ModelConfig& config) {
  std::set<std::string> names;
  for (const TensorConfig& input : config.inputs) names.insert(input.name);
  for (const ControlConfig& control : config.controls) names.insert(control.input);
  for (const StateConfig& state : config.states) names.insert(state.input_name);
  for (const Json& batch_input : config.json["batch_input"].items()) {
    for (const Json& target : batch_input["target_name"].items()) names.insert(target.AsString());
  }
  return names;
}

Error RequireType(const ModelConfig& config, const char* kind, const TensorDescription& tensor) {
  if (FromTensorflowType(tensor.type) != TRITONSERVER_TYPE_INVALID) return Error();
  const std::string what = tensor.type == 0
                               ? std::string("is a sparse or composite tensor")
                               : StrCat("has the type ", TensorflowTypeName(tensor.type));
  return Error::Unsupported(StrCat("unable to load model '", config.name, "': ", kind, " '",
                                   tensor.name, "' ", what, ", which can not be served"));
}

// Whether an output is served. An output that is not served may have any type.
bool IsServed(const ModelConfig& config, const std::string& output) {
  const bool all = config.auto_complete && config.outputs.empty();
  return all || config.FindOutput(output) != nullptr ||
         std::any_of(config.states.begin(), config.states.end(),
                     [&](const StateConfig& state) { return state.output_name == output; });
}

}  // namespace

Result<Signature> MakeSignature(const ModelConfig& config, ModelFormat format,
                                const LoadReply& loaded) {
  const std::set<std::string> named = NamedInputs(config);
  const bool all = format == ModelFormat::kSavedModel || named.empty();
  Signature signature;
  for (const TensorDescription& input : loaded.inputs) {
    if (!all && named.count(input.name) == 0) continue;
    if (!input.has_default || named.count(input.name) > 0) {
      NB_RETURN_IF_ERROR(RequireType(config, "input", input));
    }
    (input.has_default ? signature.defaulted : signature.inputs).push_back(ToModelTensor(input));
  }
  for (const TensorDescription& output : loaded.outputs) {
    if (IsServed(config, output.name)) NB_RETURN_IF_ERROR(RequireType(config, "output", output));
    signature.outputs.push_back(ToModelTensor(output));
  }
  return signature;
}

uint32_t IndexOf(const std::vector<TensorDescription>& tensors, std::string_view name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(),
                   [&](const TensorDescription& tensor) { return tensor.name == name; });
  return static_cast<uint32_t>(found - tensors.begin());
}

}  // namespace nereid_backend
