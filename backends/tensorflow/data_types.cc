// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/data_types.h"

#include <iterator>

namespace nereid_backend {
namespace {

struct TypeRow {
  const char* name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
};

// Indexed by the numbers in TensorFlow's types.proto.
constexpr TypeRow kTypes[] = {
    {"DT_INVALID"},
    {"DT_FLOAT", TRITONSERVER_TYPE_FP32},
    {"DT_DOUBLE", TRITONSERVER_TYPE_FP64},
    {"DT_INT32", TRITONSERVER_TYPE_INT32},
    {"DT_UINT8", TRITONSERVER_TYPE_UINT8},
    {"DT_INT16", TRITONSERVER_TYPE_INT16},
    {"DT_INT8", TRITONSERVER_TYPE_INT8},
    {"DT_STRING", TRITONSERVER_TYPE_BYTES},
    {"DT_COMPLEX64"},
    {"DT_INT64", TRITONSERVER_TYPE_INT64},
    {"DT_BOOL", TRITONSERVER_TYPE_BOOL},
    {"DT_QINT8"},
    {"DT_QUINT8"},
    {"DT_QINT32"},
    {"DT_BFLOAT16", TRITONSERVER_TYPE_BF16},
    {"DT_QINT16"},
    {"DT_QUINT16"},
    {"DT_UINT16", TRITONSERVER_TYPE_UINT16},
    {"DT_COMPLEX128"},
    {"DT_HALF", TRITONSERVER_TYPE_FP16},
    {"DT_RESOURCE"},
    {"DT_VARIANT"},
    {"DT_UINT32", TRITONSERVER_TYPE_UINT32},
    {"DT_UINT64", TRITONSERVER_TYPE_UINT64},
    {"DT_FLOAT8_E5M2"},
    {"DT_FLOAT8_E4M3FN"},
};

}  // namespace

TRITONSERVER_DataType FromTensorflowType(int32_t type) {
  const bool known = type >= 0 && type < static_cast<int32_t>(std::size(kTypes));
  return known ? kTypes[type].type : TRITONSERVER_TYPE_INVALID;
}

std::string TensorflowTypeName(int32_t type) {
  const bool known = type >= 0 && type < static_cast<int32_t>(std::size(kTypes));
  return known ? kTypes[type].name : "data type " + std::to_string(type);
}

}  // namespace nereid_backend
