// SPDX-License-Identifier: Apache-2.0
// Data types of the protocol and of PyTorch. Pure.
#ifndef NEREID_BACKENDS_PYTORCH_TYPES_H_
#define NEREID_BACKENDS_PYTORCH_TYPES_H_

#include <c10/core/ScalarType.h>

#include <optional>

#include "triton/core/tritonserver.h"

namespace nereid_backend {

// None for BYTES, which is a list and not a tensor, and for types that PyTorch lacks.
std::optional<c10::ScalarType> ToTorchType(TRITONSERVER_DataType type);
// INVALID for types that the protocol lacks.
TRITONSERVER_DataType FromTorchType(c10::ScalarType type);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_TYPES_H_
