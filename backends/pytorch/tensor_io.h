// SPDX-License-Identifier: Apache-2.0
// Converts tensors of a run to PyTorch's values and back. Stateless functions; they may throw what
// PyTorch throws.
#ifndef NEREID_BACKENDS_PYTORCH_TENSOR_IO_H_
#define NEREID_BACKENDS_PYTORCH_TENSOR_IO_H_

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "backends/sdk/graph/tensor_io.h"

namespace nereid_backend {

// A tensor over the bytes of `input`, which belong to the request or to its scratch.
at::Tensor ViewInput(RunInput* input);
// A tensor with a copy of them.
at::Tensor CopyInput(const RunInput& input);
// BYTES as a List[str].
c10::IValue ListInput(const RunInput& input);

// Call after the run, when its results are gone. If the network still refers to the storage of
// `tensor`, gives it a copy of the bytes, because the bytes are about to return to the server.
void LetGo(at::Tensor* tensor);

// Points `output` to the content of `value`; `kept` keeps that alive. INVALID_ARG if its type
// differs from the configuration.
Error TakeOutput(const c10::IValue& value, RunOutput* output, at::Tensor* kept);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_TENSOR_IO_H_
