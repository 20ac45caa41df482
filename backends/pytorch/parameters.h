// SPDX-License-Identifier: Apache-2.0
// Parameters of a PyTorch model: the `parameters` of its configuration as values. Immutable.
#ifndef NEREID_BACKENDS_PYTORCH_PARAMETERS_H_
#define NEREID_BACKENDS_PYTORCH_PARAMETERS_H_

#include <optional>

#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

struct Parameters {
  bool inference_mode = true;        // INFERENCE_MODE
  bool optimized_execution = true;   // not DISABLE_OPTIMIZED_EXECUTION
  int intra_op_threads = 0;          // INTRA_OP_THREAD_COUNT; 0: by the CPU budget
  int inter_op_threads = 0;          // INTER_OP_THREAD_COUNT; 0: by the CPU budget
  std::optional<bool> share_module;  // ENABLE_WEIGHT_SHARING; unset: unless forward writes to it
  // Settings of the whole process; unset: unchanged.
  std::optional<bool> jit_profiling;  // ENABLE_JIT_PROFILING
  std::optional<bool> jit_executor;   // ENABLE_JIT_EXECUTOR
  std::optional<bool> tensor_fuser;   // ENABLE_TENSOR_FUSER

  // INVALID_ARG for a value that cannot be parsed.
  static Result<Parameters> FromConfig(const ModelConfig& config);
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_PARAMETERS_H_
