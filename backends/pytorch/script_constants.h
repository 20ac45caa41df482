// Checks that a TorchScript file holds the constants that it announces. PyTorch believes the size
// in the description of a tensor, and would read beyond the bytes that came with it.
#ifndef NEREID_BACKENDS_PYTORCH_SCRIPT_CONSTANTS_H_
#define NEREID_BACKENDS_PYTORCH_SCRIPT_CONSTANTS_H_

#include <torch/csrc/jit/api/module.h>

#include <string>

#include "backends/sdk/error.h"

namespace nereid_backend {

// INVALID_ARG when the tensors of `module`, loaded from the file `path`, are larger together than
// what is in the file. May throw what PyTorch throws.
Error CheckConstants(const std::string& path, const torch::jit::Module& module);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_SCRIPT_CONSTANTS_H_
