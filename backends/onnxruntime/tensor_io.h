// SPDX-License-Identifier: Apache-2.0
// Converts tensors of a run to values of ONNX Runtime and back. Stateless functions; they may throw
// Ort::Exception.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_TENSOR_IO_H_
#define NEREID_BACKENDS_ONNXRUNTIME_TENSOR_IO_H_

#include <onnxruntime_cxx_api.h>

#include "backends/sdk/graph/tensor_io.h"

namespace nereid_backend {

// The value may point into the requests and into the scratch memory of `input`.
Ort::Value MakeInputValue(const Ort::MemoryInfo& memory, RunInput* input);

// A tensor over the buffer of `output`. REQUIRES: `output` has one.
Ort::Value MakePlaceValue(const Ort::MemoryInfo& memory, const RunOutput& output);

// Points `output` to the content of `value`.
void TakeOutputValue(const Ort::Value& value, RunOutput* output);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_TENSOR_IO_H_
