// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/tensor_io.h"

#include <cstring>

#include "backends/onnxruntime/signature.h"

namespace nereid_backend {
namespace {

// The runtime takes a pointer to non-const for inputs too, and does not write to them.
Ort::Value ViewOf(const Ort::MemoryInfo& memory, TRITONSERVER_DataType type, const void* data,
                  size_t byte_size, const Shape& shape) {
  return Ort::Value::CreateTensor(memory, const_cast<void*>(data), byte_size, shape.data(),
                                  shape.size(), ToOnnxType(type));
}

Ort::Value MakeStrings(const RunInput& input) {
  Ort::AllocatorWithDefaultOptions allocator;
  Ort::Value value = Ort::Value::CreateTensor(allocator, input.shape.data(), input.shape.size(),
                                              ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  size_t index = 0;
  for (const std::string_view element : input.elements) {
    // This call and not FillStringTensor: an element may hold NUL bytes.
    char* buffer = value.GetResizedStringTensorElementBuffer(index++, element.size());
    if (!element.empty()) std::memcpy(buffer, element.data(), element.size());
  }
  return value;
}

void TakeStrings(const Ort::Value& value, size_t count, RunOutput* output) {
  output->text.resize(value.GetStringTensorDataLength());
  std::vector<size_t> offsets(count);
  if (count > 0) {
    value.GetStringTensorContent(output->text.data(), output->text.size(), offsets.data(), count);
  }
  offsets.push_back(output->text.size());
  output->elements.clear();
  for (size_t i = 0; i < count; ++i) {
    output->elements.push_back(
        std::string_view(output->text).substr(offsets[i], offsets[i + 1] - offsets[i]));
  }
}

}  // namespace

Ort::Value MakeInputValue(const Ort::MemoryInfo& memory, RunInput* input) {
  const BoundTensor& tensor = *input->tensor;
  if (tensor.element_size == 0) return MakeStrings(*input);
  return ViewOf(memory, tensor.type, input->Contiguous(tensor.element_size), input->byte_size,
                input->shape);
}

Ort::Value MakePlaceValue(const Ort::MemoryInfo& memory, const RunOutput& output) {
  return ViewOf(memory, output.tensor->type, output.place, output.place_size, output.shape);
}

void TakeOutputValue(const Ort::Value& value, RunOutput* output) {
  const auto info = value.GetTensorTypeAndShapeInfo();
  output->shape = info.GetShape();
  if (output->tensor->element_size == 0) {
    TakeStrings(value, info.GetElementCount(), output);
  } else {
    output->data = static_cast<const char*>(value.GetTensorRawData());
  }
}

}  // namespace nereid_backend
