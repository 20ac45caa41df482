// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/signature.h"

#include <algorithm>
#include <set>
#include <string>

namespace nereid_backend {
namespace {

struct TypePair {
  TRITONSERVER_DataType triton;
  ov::element::Type_t ov;
};
constexpr TypePair kTypes[] = {
    {TRITONSERVER_TYPE_BOOL, ov::element::Type_t::boolean},
    {TRITONSERVER_TYPE_UINT8, ov::element::Type_t::u8},
    {TRITONSERVER_TYPE_UINT16, ov::element::Type_t::u16},
    {TRITONSERVER_TYPE_UINT32, ov::element::Type_t::u32},
    {TRITONSERVER_TYPE_UINT64, ov::element::Type_t::u64},
    {TRITONSERVER_TYPE_INT8, ov::element::Type_t::i8},
    {TRITONSERVER_TYPE_INT16, ov::element::Type_t::i16},
    {TRITONSERVER_TYPE_INT32, ov::element::Type_t::i32},
    {TRITONSERVER_TYPE_INT64, ov::element::Type_t::i64},
    {TRITONSERVER_TYPE_FP16, ov::element::Type_t::f16},
    {TRITONSERVER_TYPE_FP32, ov::element::Type_t::f32},
    {TRITONSERVER_TYPE_FP64, ov::element::Type_t::f64},
    {TRITONSERVER_TYPE_BF16, ov::element::Type_t::bf16},
    {TRITONSERVER_TYPE_BYTES, ov::element::Type_t::string},
};

// Names that the configuration gives to tensors, on either side of the model.
struct ListedNames {
  std::set<std::string> inputs;
  std::set<std::string> outputs;
};

ListedNames CollectNames(const ModelConfig& config) {
  ListedNames names;
  for (const TensorConfig& input : config.inputs) names.inputs.insert(input.name);
  for (const TensorConfig& output : config.outputs) names.outputs.insert(output.name);
  for (const ControlConfig& control : config.controls) names.inputs.insert(control.input);
  for (const StateConfig& state : config.states) {
    names.inputs.insert(state.input_name);
    names.outputs.insert(state.output_name);
  }
  for (const Json& batch_input : config.json["batch_input"].items()) {
    for (const Json& target : batch_input["target_name"].items()) {
      names.inputs.insert(target.AsString());
    }
  }
  return names;
}

// Two results of one node share its names, so each name is given once.
std::string ChooseName(const ov::Output<const ov::Node>& port, const std::string& node_name,
                       const std::set<std::string>& listed, std::set<std::string>* taken) {
  const std::set<std::string> names(port.get_names().begin(), port.get_names().end());
  std::string chosen;
  for (const std::string& name : names) {
    if (taken->count(name) > 0) continue;
    if (chosen.empty()) chosen = name;
    if (listed.count(name) == 0) continue;
    chosen = name;
    break;
  }
  if (chosen.empty()) chosen = node_name;
  taken->insert(chosen);
  return chosen;
}

ModelTensor Describe(std::string name, const ov::element::Type& type,
                     const ov::PartialShape& shape) {
  ModelTensor tensor;
  tensor.name = std::move(name);
  tensor.type = FromOvType(type);
  tensor.type_name = type.get_type_name();
  if (shape.rank().is_dynamic()) {
    tensor.any_shape = true;
    return tensor;
  }
  for (const ov::Dimension& dim : shape) {
    tensor.dims.push_back(dim.is_static() ? dim.get_length() : -1);
  }
  return tensor;
}

}  // namespace

TRITONSERVER_DataType FromOvType(const ov::element::Type& type) {
  for (const TypePair& pair : kTypes) {
    if (pair.ov == static_cast<ov::element::Type_t>(type)) return pair.triton;
  }
  return TRITONSERVER_TYPE_INVALID;
}

ov::element::Type ToOvType(TRITONSERVER_DataType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.triton == type) return pair.ov;
  }
  return ov::element::dynamic;
}

Signature ReadSignature(const ov::Model& model, const ModelConfig& config) {
  const ListedNames listed = CollectNames(config);
  Signature signature;
  std::set<std::string> taken;
  for (const auto& port : model.inputs()) {
    signature.inputs.push_back(
        Describe(ChooseName(port, port.get_node()->get_friendly_name(), listed.inputs, &taken),
                 port.get_element_type(), port.get_partial_shape()));
  }
  taken.clear();
  for (const auto& port : model.outputs()) {
    // The port belongs to a result; the name belongs to the node that feeds it.
    const std::string node = port.get_node()->get_input_node_ptr(0)->get_friendly_name();
    signature.outputs.push_back(Describe(ChooseName(port, node, listed.outputs, &taken),
                                         port.get_element_type(), port.get_partial_shape()));
  }
  return signature;
}

}  // namespace nereid_backend
