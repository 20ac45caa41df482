// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/batch_output.h"

#include <algorithm>

namespace nereid_backend {
namespace {

constexpr const char* kScatter = "BATCH_SCATTER_WITH_INPUT_SHAPE";

Error CheckTarget(const ModelConfig& config, const std::string& target,
                  const TensorConfig& source) {
  const TensorConfig* const output = config.FindOutput(target);
  if (output == nullptr) {
    return Error::InvalidArg(StrCat("unknown target output name '", target, "' for ", config.name));
  }
  const Shape& dims = output->model_dims();
  for (size_t i = source.model_dims().size(); i < dims.size(); ++i) {
    if (dims[i] >= 0) continue;
    return Error::InvalidArg(StrCat("batch output '", target, "' has the variable dimension ", i,
                                    " of its shape ", ShapeToString(dims), ", but its source '",
                                    source.name, "' has the shape ",
                                    ShapeToString(source.model_dims()), " for ", config.name));
  }
  return Error();
}

}  // namespace

Result<std::vector<BatchOutput>> BatchOutput::ReadAll(const ModelConfig& config) {
  std::vector<BatchOutput> all;
  for (const Json& json : config.json["batch_output"].items()) {
    const std::string kind = json["kind"].AsString(kScatter);
    if (kind != kScatter) {
      return Error::InvalidArg(StrCat("unknown batch output kind '", kind, "' for ", config.name));
    }
    const Json::Array& sources = json["source_input"].items();
    const TensorConfig* const source =
        sources.size() == 1 ? config.FindInput(sources[0].AsString()) : nullptr;
    if (source == nullptr) {
      return Error::InvalidArg(
          StrCat("a batch output needs one source, which is an input, for ", config.name));
    }
    BatchOutput output;
    output.source_ = source->name;
    for (const Json& target : json["target_name"].items()) {
      output.targets_.push_back(target.AsString());
      NB_RETURN_IF_ERROR(CheckTarget(config, output.targets_.back(), *source));
    }
    all.push_back(std::move(output));
  }
  return all;
}

bool BatchOutput::Has(std::string_view output) const {
  return std::find(targets_.begin(), targets_.end(), output) != targets_.end();
}

Shape ScatteredShape(const Shape& dims, bool batching, const ShapeView& source) {
  const size_t skip = batching ? 1 : 0;
  Shape shape;
  if (batching) shape.push_back(source.dims[0]);
  for (size_t i = 0; i < dims.size(); ++i) {
    shape.push_back(dims[i] >= 0 ? dims[i] : source.dims[skip + i]);
  }
  return shape;
}

}  // namespace nereid_backend
