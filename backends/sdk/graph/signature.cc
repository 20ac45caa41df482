// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/graph/signature.h"

#include <algorithm>

namespace nereid_backend {
namespace {

const ModelTensor* FindByName(const std::vector<ModelTensor>& tensors, std::string_view name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const ModelTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

}  // namespace

const ModelTensor* Signature::FindInput(std::string_view name) const {
  const ModelTensor* const found = FindByName(inputs, name);
  return found != nullptr ? found : FindByName(defaulted, name);
}

const ModelTensor* Signature::FindOutput(std::string_view name) const {
  return FindByName(outputs, name);
}

bool Signature::HasOpenShapes(bool batching) const {
  return std::any_of(inputs.begin(), inputs.end(), [batching](const ModelTensor& input) {
    if (input.any_shape) return true;
    const size_t first = batching && !input.dims.empty() ? 1 : 0;
    return std::any_of(input.dims.begin() + static_cast<std::ptrdiff_t>(first), input.dims.end(),
                       [](int64_t dim) { return dim < 0; });
  });
}

std::string Signature::Names(const std::vector<ModelTensor>& tensors) {
  std::string text;
  for (const ModelTensor& tensor : tensors) text += (text.empty() ? "" : ", ") + tensor.name;
  return text;
}

}  // namespace nereid_backend
