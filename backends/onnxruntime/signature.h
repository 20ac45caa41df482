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

// The name of an open dimension, or nothing if it is one of those that exporters make for each
// dimension of each tensor, so that they say nothing of equal sizes: "unk__7" (tf2onnx),
// "x_dynamic_axes_1" (PyTorch), "DynamicDimension.0" (Paddle).
std::string MeaningfulName(const std::string& name);

// May throw Ort::Exception.
Signature ReadSignature(const Ort::Session& session);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_SIGNATURE_H_
