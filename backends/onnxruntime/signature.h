// SPDX-License-Identifier: Apache-2.0
// The tensors of an ONNX file, as the runtime reports them, and the mapping of data types.
// Stateless.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_SIGNATURE_H_
#define NEREID_BACKENDS_ONNXRUNTIME_SIGNATURE_H_

#include <onnxruntime_cxx_api.h>

#include <string>

#include "backends/sdk/graph/signature.h"

namespace nereid_backend {

// Equivalent types; INVALID and UNDEFINED if there is none.
TRITONSERVER_DataType FromOnnxType(ONNXTensorElementDataType type);
ONNXTensorElementDataType ToOnnxType(TRITONSERVER_DataType type);

// May throw Ort::Exception.
Signature ReadSignature(const Ort::Session& session);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_SIGNATURE_H_
