// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/types.h"

namespace nereid_backend {
namespace {

struct TypePair {
  TRITONSERVER_DataType triton;
  c10::ScalarType torch;
};
constexpr TypePair kTypes[] = {
    {TRITONSERVER_TYPE_BOOL, c10::ScalarType::Bool},
    {TRITONSERVER_TYPE_UINT8, c10::ScalarType::Byte},
    {TRITONSERVER_TYPE_UINT16, c10::ScalarType::UInt16},
    {TRITONSERVER_TYPE_UINT32, c10::ScalarType::UInt32},
    {TRITONSERVER_TYPE_UINT64, c10::ScalarType::UInt64},
    {TRITONSERVER_TYPE_INT8, c10::ScalarType::Char},
    {TRITONSERVER_TYPE_INT16, c10::ScalarType::Short},
    {TRITONSERVER_TYPE_INT32, c10::ScalarType::Int},
    {TRITONSERVER_TYPE_INT64, c10::ScalarType::Long},
    {TRITONSERVER_TYPE_FP16, c10::ScalarType::Half},
    {TRITONSERVER_TYPE_BF16, c10::ScalarType::BFloat16},
    {TRITONSERVER_TYPE_FP32, c10::ScalarType::Float},
    {TRITONSERVER_TYPE_FP64, c10::ScalarType::Double},
};

}  // namespace

std::optional<c10::ScalarType> ToTorchType(TRITONSERVER_DataType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.triton == type) return pair.torch;
  }
  return std::nullopt;
}

TRITONSERVER_DataType FromTorchType(c10::ScalarType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.torch == type) return pair.triton;
  }
  return TRITONSERVER_TYPE_INVALID;
}

}  // namespace nereid_backend
