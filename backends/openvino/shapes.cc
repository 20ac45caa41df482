// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/shapes.h"

#include <algorithm>
#include <map>
#include <openvino/core/layout.hpp>
#include <string>
#include <vector>

#include "backends/sdk/openvino/ov_error.h"

namespace nereid_backend {
namespace {

bool FirstIsFixed(const ov::PartialShape& shape) {
  return shape.rank().is_static() && shape.size() > 0 && shape[0].is_static();
}

template <typename Ports>
bool AnyFirstIsFixed(const Ports& ports) {
  return std::any_of(ports.begin(), ports.end(),
                     [](const auto& port) { return FirstIsFixed(port.get_partial_shape()); });
}

// True if the port's layout says that the first dimension is the batch.
bool BatchComesFirst(const ov::Output<const ov::Node>& port) {
  const ov::Layout layout = ov::layout::get_layout(port);
  return !layout.empty() && ov::layout::has_batch(layout) && ov::layout::batch_idx(layout) == 0;
}

bool LayoutsAskForBatching(const ov::Model& model) {
  const auto inputs = model.inputs();
  const auto outputs = model.outputs();
  return !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), BatchComesFirst) &&
         std::all_of(outputs.begin(), outputs.end(), BatchComesFirst);
}

std::string NameOf(const ov::Output<const ov::Node>& port) {
  return port.get_names().empty() ? port.get_node()->get_friendly_name() : port.get_any_name();
}

// Only a first dimension that is the same for all ports can be the batch.
bool SameFirstDimension(const std::vector<ov::Output<const ov::Node>>& ports) {
  return std::all_of(ports.begin(), ports.end(), [&](const auto& port) {
    const ov::PartialShape& shape = port.get_partial_shape();
    return FirstIsFixed(shape) && shape[0] == ports[0].get_partial_shape()[0];
  });
}

// The model with a variable first dimension. INVALID_ARG when an input or output does not have it.
Result<std::shared_ptr<ov::Model>> WithOpenBatch(const std::shared_ptr<ov::Model>& model) {
  if (!SameFirstDimension(std::as_const(*model).inputs())) {
    return Error::InvalidArg("its inputs have different first dimensions");
  }
  std::shared_ptr<ov::Model> open;
  NB_RETURN_IF_ERROR(OvTry("", [&]() -> Error {
    open = WithFirstDimension(*model, ov::Dimension::dynamic());
    return Error();
  }));
  for (const auto& output : std::as_const(*open).outputs()) {
    if (!FirstIsFixed(output.get_partial_shape())) continue;
    return Error::InvalidArg(StrCat("output '", NameOf(output), "' keeps the shape ",
                                    output.get_partial_shape().to_string()));
  }
  return open;
}

}  // namespace

std::shared_ptr<ov::Model> WithFirstDimension(const ov::Model& model, const ov::Dimension& first) {
  // A copy, because a reshape that fails half-way leaves a model with only some shapes changed.
  std::shared_ptr<ov::Model> changed = model.clone();
  std::map<ov::Output<ov::Node>, ov::PartialShape> shapes;
  for (const ov::Output<ov::Node>& input : changed->inputs()) {
    ov::PartialShape shape = input.get_partial_shape();
    shape[0] = first;
    shapes[input] = shape;
  }
  changed->reshape(shapes);
  return changed;
}

Error ReshapeToConfig(const ModelConfig& config, ov::Model* model) {
  std::map<ov::Output<ov::Node>, ov::PartialShape> shapes;
  for (const ov::Output<ov::Node>& port : model->inputs()) {
    const auto listed = std::find_if(
        config.inputs.begin(), config.inputs.end(),
        [&](const TensorConfig& input) { return port.get_names().count(input.name) > 0; });
    if (listed == config.inputs.end()) continue;
    ov::PartialShape shape;
    if (config.batching()) shape.push_back(ov::Dimension::dynamic());
    for (const int64_t dim : listed->model_dims()) {
      if (dim == 0 || dim < -1) {
        return Error::Internal(
            "openvino backend does not support dimensions values other than `-1` or positive "
            "integers");
      }
      shape.push_back(ov::Dimension(dim));
    }
    shapes[port] = shape;
  }
  return OvTry(StrCat("model '", config.name,
                      "' cannot have the shapes of the configuration (RESHAPE_IO_LAYERS): "),
               [&]() -> Error {
                 model->reshape(shapes);
                 return Error();
               });
}

Error OpenBatchDimension(const ModelConfig& config, std::shared_ptr<ov::Model>* model) {
  const bool fixed = AnyFirstIsFixed((*model)->inputs()) || AnyFirstIsFixed((*model)->outputs());
  if (!fixed || !(*model)->get_variables().empty()) return Error();
  const bool offered = config.auto_complete && config.inputs.empty() && config.outputs.empty() &&
                       LayoutsAskForBatching(**model);
  if (!config.batching() && !offered) return Error();
  const bool ragged = std::any_of(config.inputs.begin(), config.inputs.end(),
                                  [](const TensorConfig& input) { return input.ragged; }) ||
                      !config.json["batch_input"].items().empty();
  if (ragged) return Error();
  Result<std::shared_ptr<ov::Model>> open = WithOpenBatch(*model);
  if (open.ok()) {
    *model = *open;
    return Error();
  }
  if (!config.batching()) return Error();
  return Error::InvalidArg(StrCat(
      "unable to load model '", config.name, "': max_batch_size ", config.max_batch_size,
      " needs a variable batch dimension, and OpenVINO cannot make the model's first dimension "
      "variable (",
      open.error().message(), "); set max_batch_size to 0"));
}

}  // namespace nereid_backend
