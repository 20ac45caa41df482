// Tensors of a run as tensors of OpenVINO, and back. Stateless functions; they may throw
// ov::Exception.
#ifndef NEREID_BACKENDS_OPENVINO_TENSOR_IO_H_
#define NEREID_BACKENDS_OPENVINO_TENSOR_IO_H_

#include <openvino/runtime/tensor.hpp>

#include "backends/sdk/graph/tensor_io.h"

namespace nereid_backend {

ov::Shape ToOvShape(const Shape& shape);
Shape FromOvShape(const ov::Shape& shape);

// May point into the requests and the scratch of `input`.
ov::Tensor MakeInputTensor(RunInput* input);

// A tensor over the place of `output`. REQUIRES: there is one.
ov::Tensor MakePlaceTensor(const RunOutput& output);

// Points `output` to what `tensor` holds.
void TakeOutputTensor(const ov::Tensor& tensor, RunOutput* output);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_TENSOR_IO_H_
