// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/signature.h"

#include <algorithm>
#include <vector>

#include "backends/onnxruntime/declared_signature.h"

namespace nereid_backend {
namespace {

struct TypePair {
  TRITONSERVER_DataType triton;
  ONNXTensorElementDataType onnx;
};
constexpr TypePair kTypes[] = {
    {TRITONSERVER_TYPE_BOOL, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL},
    {TRITONSERVER_TYPE_UINT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},
    {TRITONSERVER_TYPE_UINT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16},
    {TRITONSERVER_TYPE_UINT32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32},
    {TRITONSERVER_TYPE_UINT64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64},
    {TRITONSERVER_TYPE_INT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8},
    {TRITONSERVER_TYPE_INT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16},
    {TRITONSERVER_TYPE_INT32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
    {TRITONSERVER_TYPE_INT64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
    {TRITONSERVER_TYPE_FP16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16},
    {TRITONSERVER_TYPE_FP32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
    {TRITONSERVER_TYPE_FP64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE},
    {TRITONSERVER_TYPE_BF16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16},
    {TRITONSERVER_TYPE_BYTES, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING},
};

ModelTensor Describe(std::string name, const Ort::TypeInfo& info) {
  ModelTensor tensor;
  tensor.name = std::move(name);
  tensor.is_tensor = info.GetONNXType() == ONNX_TYPE_TENSOR;
  if (!tensor.is_tensor) return tensor;
  const auto shape = info.GetTensorTypeAndShapeInfo();
  tensor.type = FromOnnxType(shape.GetElementType());
  tensor.dims = shape.GetShape();
  for (int64_t& dim : tensor.dims) dim = std::max<int64_t>(dim, -1);
  if (!tensor.first_is_open()) return tensor;
  std::vector<const char*> names(tensor.dims.size(), "");
  shape.GetSymbolicDimensions(names.data(), names.size());
  if (names[0] != nullptr) tensor.first_name = MeaningfulName(names[0]);
  return tensor;
}

}  // namespace

TRITONSERVER_DataType FromOnnxType(ONNXTensorElementDataType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.onnx == type) return pair.triton;
  }
  return TRITONSERVER_TYPE_INVALID;
}

ONNXTensorElementDataType ToOnnxType(TRITONSERVER_DataType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.triton == type) return pair.onnx;
  }
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

Signature ReadSignature(const Ort::Session& session) {
  Ort::AllocatorWithDefaultOptions allocator;
  Signature signature;
  for (size_t i = 0; i < session.GetInputCount(); ++i) {
    signature.inputs.push_back(
        Describe(session.GetInputNameAllocated(i, allocator).get(), session.GetInputTypeInfo(i)));
  }
  for (size_t i = 0; i < session.GetOverridableInitializerCount(); ++i) {
    signature.defaulted.push_back(
        Describe(session.GetOverridableInitializerNameAllocated(i, allocator).get(),
                 session.GetOverridableInitializerTypeInfo(i)));
  }
  for (size_t i = 0; i < session.GetOutputCount(); ++i) {
    signature.outputs.push_back(
        Describe(session.GetOutputNameAllocated(i, allocator).get(), session.GetOutputTypeInfo(i)));
  }
  return signature;
}

}  // namespace nereid_backend
