// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/tensor_io.h"

#include <string>

#include "backends/openvino/signature.h"

namespace nereid_backend {

ov::Shape ToOvShape(const Shape& shape) { return ov::Shape(shape.begin(), shape.end()); }

Shape FromOvShape(const ov::Shape& shape) { return Shape(shape.begin(), shape.end()); }

ov::Tensor MakeInputTensor(RunInput* input) {
  const BoundTensor& tensor = *input->tensor;
  const ov::Shape shape = ToOvShape(input->shape);
  if (tensor.element_size > 0) {
    // The runtime takes a pointer to non-const for inputs too, and does not write to them.
    return ov::Tensor(ToOvType(tensor.type), shape,
                      const_cast<char*>(input->Contiguous(tensor.element_size)));
  }
  ov::Tensor strings(ov::element::string, shape);
  auto* const elements = strings.data<std::string>();
  for (size_t i = 0; i < input->elements.size(); ++i) elements[i] = input->elements[i];
  return strings;
}

ov::Tensor MakePlaceTensor(const RunOutput& output) {
  return ov::Tensor(ToOvType(output.tensor->type), ToOvShape(output.shape), output.place);
}

void TakeOutputTensor(const ov::Tensor& tensor, RunOutput* output) {
  output->shape = FromOvShape(tensor.get_shape());
  if (output->tensor->element_size > 0) {
    output->data = static_cast<const char*>(tensor.data());
    return;
  }
  const auto* const elements = tensor.data<const std::string>();
  output->elements.assign(elements, elements + tensor.get_size());
}

}  // namespace nereid_backend
