// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/environment.h"

#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include "backends/pytorch/block_cache.h"
#include "backends/pytorch/options.h"
#include "backends/pytorch/threads.h"
#include "backends/pytorch/torch_error.h"
#include "backends/sdk/log.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/options.h"

namespace nereid_backend {

Result<std::unique_ptr<Environment>> Environment::Create(TRITONBACKEND_Backend* backend) {
  NB_ASSIGN_OR_RETURN(const Json cmdline, ReadBackendSettings(backend));
  NB_RETURN_IF_ERROR(ReadSettings(kPytorchOptions, cmdline).TakeError());
  std::unique_ptr<Environment> environment(new Environment(ReadCpuBudget()));
  NB_RETURN_IF_ERROR(TorchTry("failed to set PyTorch up: ", []() -> Error {
    SetUpThreads();
    BlockCache::Install();
    return Error();
  }));
  return environment;
}

void Environment::Apply(const std::string& model, const Parameters& parameters, bool forks) const {
  if (parameters.jit_profiling.has_value()) {
    torch::jit::getProfilingMode() = *parameters.jit_profiling;
  }
  if (parameters.jit_executor.has_value()) {
    torch::jit::getExecutorMode() = *parameters.jit_executor;
  }
  if (parameters.tensor_fuser.has_value()) {
    torch::jit::setTensorExprFuserEnabled(*parameters.tensor_fuser);
  }
  const int asked = parameters.inter_op_threads;
  if (asked == 0 && !forks) return;
  // The thread that forks also computes.
  const int wanted = asked > 0 ? asked : std::max(1, budget_.threads - 1);
  const int size = SetInterOpThreads(wanted);
  if (asked > 0 && size != asked) {
    NB_LOG_WARNING("model '", model, "': INTER_OP_THREAD_COUNT ", asked,
                   " has no effect: the process has one inter-op pool, and the first model that "
                   "needed it made it of ",
                   size, " threads");
  }
}

}  // namespace nereid_backend
