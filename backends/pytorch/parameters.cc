// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/parameters.h"

#include "backends/pytorch/options.h"
#include "backends/sdk/options.h"

namespace nereid_backend {

Result<Parameters> Parameters::FromConfig(const ModelConfig& config) {
  NB_ASSIGN_OR_RETURN(const OptionValues given, ReadParameters(kPytorchOptions, config));
  Parameters parameters;
  parameters.inference_mode = given.Bool("INFERENCE_MODE").value_or(true);
  parameters.optimized_execution = !given.Bool("DISABLE_OPTIMIZED_EXECUTION").value_or(false);
  const auto threads = [&](const char* name) {
    return static_cast<int>(given.Integer(name).value_or(0));
  };
  parameters.intra_op_threads = threads("INTRA_OP_THREAD_COUNT");
  parameters.inter_op_threads = threads("INTER_OP_THREAD_COUNT");
  parameters.share_module = given.Bool("ENABLE_WEIGHT_SHARING");
  parameters.jit_profiling = given.Bool("ENABLE_JIT_PROFILING");
  parameters.jit_executor = given.Bool("ENABLE_JIT_EXECUTOR");
  parameters.tensor_fuser = given.Bool("ENABLE_TENSOR_FUSER");
  return parameters;
}

}  // namespace nereid_backend
