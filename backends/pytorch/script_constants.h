// Checks that a TorchScript file contains the constants that it announces. PyTorch trusts the size
// in a tensor's description, and would otherwise read beyond the bytes in the file.
#ifndef NEREID_BACKENDS_PYTORCH_SCRIPT_CONSTANTS_H_
#define NEREID_BACKENDS_PYTORCH_SCRIPT_CONSTANTS_H_

#include <torch/csrc/jit/api/module.h>

#include <string>

#include "backends/sdk/error.h"

namespace nereid_backend {

// INVALID_ARG if the tensors of `module`, loaded from the file `path`, are together larger than the
// data in the file. May throw what PyTorch throws.
Error CheckConstants(const std::string& path, const torch::jit::Module& module);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_SCRIPT_CONSTANTS_H_
