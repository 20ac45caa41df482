// SPDX-License-Identifier: Apache-2.0
// Converts tensors of a run to tensors of OpenVINO and back. Stateless functions; they may throw
// ov::Exception.
#ifndef NEREID_BACKENDS_OPENVINO_TENSOR_IO_H_
#define NEREID_BACKENDS_OPENVINO_TENSOR_IO_H_

#include <openvino/runtime/tensor.hpp>

#include "backends/sdk/graph/tensor_io.h"

namespace nereid_backend {

ov::Shape ToOvShape(const Shape& shape);
Shape FromOvShape(const ov::Shape& shape);

// The tensor may point into the requests and into the scratch memory of `input`.
ov::Tensor MakeInputTensor(RunInput* input);

// A tensor over the buffer of `output`. REQUIRES: `output` has one.
ov::Tensor MakePlaceTensor(const RunOutput& output);

// Points `output` to the content of `tensor`.
void TakeOutputTensor(const ov::Tensor& tensor, RunOutput* output);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_TENSOR_IO_H_
