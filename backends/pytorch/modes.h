// SPDX-License-Identifier: Apache-2.0
// Modes: sets PyTorch's modes of the calling thread according to a model's parameters, for the
// lifetime of the object.
#ifndef NEREID_BACKENDS_PYTORCH_MODES_H_
#define NEREID_BACKENDS_PYTORCH_MODES_H_

#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>

#include "backends/pytorch/parameters.h"

namespace nereid_backend {

class Modes {
 public:
  explicit Modes(const Parameters& parameters)
      : inference_(parameters.inference_mode), optimized_(torch::jit::getGraphExecutorOptimize()) {
    torch::jit::setGraphExecutorOptimize(parameters.optimized_execution);
  }
  ~Modes() { torch::jit::setGraphExecutorOptimize(optimized_); }
  Modes(const Modes&) = delete;
  Modes& operator=(const Modes&) = delete;

 private:
  const c10::InferenceMode inference_;
  const at::NoGradGuard no_grad_;
  const bool optimized_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_MODES_H_
