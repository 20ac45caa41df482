// Signature: the tensors that an ONNX file takes and gives, as the runtime reports them, and the
// mapping of data types. Immutable after reading.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_SIGNATURE_H_
#define NEREID_BACKENDS_ONNXRUNTIME_SIGNATURE_H_

#include <onnxruntime_cxx_api.h>

#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// Equivalents; INVALID and UNDEFINED where there is none.
TRITONSERVER_DataType FromOnnxType(ONNXTensorElementDataType type);
ONNXTensorElementDataType ToOnnxType(TRITONSERVER_DataType type);

struct OnnxTensor {
  std::string name;
  bool is_tensor = true;  // false: a sequence, a map or an optional, which no client can send
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  // With the batch dimension; -1 where the model leaves it open. Empty: a scalar, or no shape
  // given.
  Shape dims;

  bool first_is_open() const { return !dims.empty() && dims[0] < 0; }
};

struct Signature {
  std::vector<OnnxTensor> inputs;
  std::vector<OnnxTensor> outputs;
  // Inputs for which the file has a value, so that a request may leave them out. They are served
  // only where the configuration lists them.
  std::vector<OnnxTensor> defaulted;

  // May throw Ort::Exception.
  static Signature Read(const Ort::Session& session);

  // Among `inputs` and `defaulted`.
  const OnnxTensor* FindInput(std::string_view name) const;
  const OnnxTensor* FindOutput(std::string_view name) const;
  // True when an input has an open dimension, the batch dimension not counted.
  bool HasOpenShapes(bool batching) const;
  // "X, Y".
  static std::string Names(const std::vector<OnnxTensor>& tensors);
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_SIGNATURE_H_
