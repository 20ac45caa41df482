// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/graph/bound_model.h"

#include <algorithm>
#include <set>

#include "backends/sdk/batch_output.h"

namespace nereid_backend {
namespace {

BoundTensor BindTensor(const ModelTensor& tensor) {
  BoundTensor bound;
  bound.name = tensor.name;
  bound.type = tensor.type;
  bound.element_size = TRITONSERVER_DataTypeByteSize(tensor.type);
  bound.dims = tensor.dims;
  bound.any_shape = tensor.any_shape;
  return bound;
}

// The shape of one element with as many dimensions as `configured`. If that has room for more, the
// model was meant to give no scalar.
Shape ScalarShape(const Shape& configured) {
  const bool one = std::all_of(configured.begin(), configured.end(),
                               [](int64_t dim) { return dim == 1 || dim == -1; });
  return Shape(one && !configured.empty() ? configured.size() : 1, 1);
}

bool IsPredictable(const BoundTensor& tensor, bool batching) {
  // Empty dims may also mean that the file gives no shape.
  if (tensor.element_size == 0 || tensor.dims.empty()) return false;
  const auto first = tensor.dims.begin() + (batching ? 1 : 0);
  return std::all_of(first, tensor.dims.end(), [](int64_t dim) { return dim >= 0; });
}

}  // namespace

Result<std::unique_ptr<BoundModel>> BoundModel::Bind(const ModelConfig& config,
                                                     const Signature& signature) {
  std::unique_ptr<BoundModel> model(new BoundModel(config.batching()));
  NB_RETURN_IF_ERROR(model->BindInputs(config, signature));
  NB_RETURN_IF_ERROR(model->BindOutputs(config, signature));
  return model;
}

size_t BoundModel::InputIndex(std::string_view name) const {
  const auto found = std::find_if(inputs_.begin(), inputs_.end(),
                                  [&](const BoundTensor& input) { return input.name == name; });
  return static_cast<size_t>(found - inputs_.begin());
}

Error BoundModel::BindInputs(const ModelConfig& config, const Signature& signature) {
  NB_ASSIGN_OR_RETURN(const std::vector<BatchInput> rules, BatchInput::ReadAll(config));
  std::set<std::string> computed;
  for (const BatchInput& rule : rules) {
    computed.insert(rule.targets().begin(), rule.targets().end());
  }
  for (const ModelTensor& input : signature.inputs) {
    if (computed.count(input.name) == 0) inputs_.push_back(BindTensor(input));
  }
  for (const ModelTensor& input : signature.defaulted) {
    const TensorConfig* const listed = config.FindInput(input.name);
    if (listed == nullptr) continue;
    inputs_.push_back(BindTensor(input));
    inputs_.back().optional = listed->optional;
  }
  for (BoundTensor& input : inputs_) {
    const TensorConfig* const listed = config.FindInput(input.name);
    if (listed == nullptr || !listed->ragged) continue;
    input.ragged = true;
    input.dims = listed->model_dims();
    if (batching_) input.dims.insert(input.dims.begin(), -1);
  }
  for (const BatchInput& rule : rules) {
    for (const std::string& target : rule.targets()) {
      computed_inputs_.push_back(
          ComputedInput{BindTensor(*signature.FindInput(target)), rule, InputIndex(rule.source())});
    }
  }
  return Error();
}

Error BoundModel::BindOutputs(const ModelConfig& config, const Signature& signature) {
  NB_ASSIGN_OR_RETURN(const std::vector<BatchOutput> scattered, BatchOutput::ReadAll(config));
  for (const ModelTensor& output : signature.outputs) {
    BoundTensor bound = BindTensor(output);
    const TensorConfig* const listed = config.FindOutput(output.name);
    bound.is_output = listed != nullptr;
    const auto state = std::find_if(
        config.states.begin(), config.states.end(),
        [&](const StateConfig& candidate) { return candidate.output_name == output.name; });
    bound.is_state = state != config.states.end();
    if (bound.is_state) bound.scalar_shape = ScalarShape(state->dims);
    if (bound.is_output) bound.scalar_shape = ScalarShape(listed->model_dims());
    bound.predictable = IsPredictable(bound, batching_);
    for (const BatchOutput& rule : scattered) {
      if (!rule.Has(output.name)) continue;
      bound.scatter_by = InputIndex(rule.source());
      bound.scatter_dims = listed->model_dims();
      bound.predictable = false;
    }
    if (bound.is_output || bound.is_state) outputs_.push_back(std::move(bound));
  }
  return Error();
}

Shape PredictedShape(const BoundTensor& tensor, bool batching, int64_t rows) {
  Shape shape = tensor.dims;
  if (batching) shape[0] = rows;
  return shape;
}

}  // namespace nereid_backend
