// SPDX-License-Identifier: Apache-2.0
#include "backends/python/output_check.h"

#include <algorithm>

#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

bool Fits(const Shape& dims, const Shape& configured) {
  return std::equal(dims.begin(), dims.end(), configured.begin(), configured.end(),
                    [](int64_t have, int64_t want) { return want == -1 || have == want; });
}

}  // namespace

OutputCheck::OutputCheck(const ModelConfig& config)
    : model_(config.name), named_(config.outputs.size()) {
  for (const TensorConfig& configured : config.outputs) {
    Output output{configured.name, configured.type, configured.model_dims()};
    if (config.batching()) output.dims.insert(output.dims.begin(), -1);
    outputs_.push_back(std::move(output));
  }
}

// What the configuration lacks is left out by the process.
void OutputCheck::LookAt(const PythonResponse& response) const {
  for (const nereid_python::Tensor& tensor : response.outputs) {
    const auto output = std::find_if(outputs_.begin(), outputs_.end(), [&](const Output& known) {
      return known.name == tensor.name;
    });
    if (output == outputs_.end()) continue;
    const auto type = static_cast<TRITONSERVER_DataType>(tensor.type);
    if (type == output->type && Fits(tensor.dims, output->dims)) continue;
    if (named_[static_cast<size_t>(output - outputs_.begin())].exchange(true)) continue;
    NB_LOG_WARNING("output '", tensor.name, "' of Python model '", model_, "' is ",
                   ConfigTypeName(type), " ", ShapeToString(tensor.dims),
                   ", but its configuration says ", ConfigTypeName(output->type), " ",
                   ShapeToString(output->dims),
                   "; clients get it as it is. This is said once for each output");
  }
}

}  // namespace nereid_backend
