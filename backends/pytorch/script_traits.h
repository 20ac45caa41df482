// SPDX-License-Identifier: Apache-2.0
// Determines from the graph of a TorchScript method how it uses its arguments and its module.
#ifndef NEREID_BACKENDS_PYTORCH_SCRIPT_TRAITS_H_
#define NEREID_BACKENDS_PYTORCH_SCRIPT_TRAITS_H_

#include <torch/csrc/jit/api/method.h>

#include "backends/pytorch/network.h"

namespace nereid_backend {

// In case of doubt reports that a method writes; PyTorch's alias analysis decides.
NetworkTraits TraitsOf(const torch::jit::Method& method);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_SCRIPT_TRAITS_H_
