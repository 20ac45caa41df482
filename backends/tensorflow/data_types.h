// SPDX-License-Identifier: Apache-2.0
// Converts between TensorFlow's data types and the protocol's. Stateless.
#ifndef NEREID_BACKENDS_TENSORFLOW_DATA_TYPES_H_
#define NEREID_BACKENDS_TENSORFLOW_DATA_TYPES_H_

#include <cstdint>
#include <string>

#include "triton/core/tritonserver.h"

namespace nereid_backend {

// INVALID if the protocol has no such type. `type` is a number of TensorFlow's DataType.
TRITONSERVER_DataType FromTensorflowType(int32_t type);

// "DT_RESOURCE"; "data type 99" for a type without a name here.
std::string TensorflowTypeName(int32_t type);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_DATA_TYPES_H_
