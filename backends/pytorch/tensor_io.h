// Tensors of a run as PyTorch's values, and back. Stateless functions; they may throw what PyTorch
// throws.
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

// After the run and its results are gone: gives what still refers to the storage of `tensor` (the
// network kept it) a copy of the bytes, which are about to be the server's again.
void LetGo(at::Tensor* tensor);

// Points `output` to what `value` holds; `kept` keeps that alive. INVALID_ARG when it is of
// another type than the configuration says.
Error TakeOutput(const c10::IValue& value, RunOutput* output, at::Tensor* kept);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_TENSOR_IO_H_
