// SPDX-License-Identifier: Apache-2.0
// TorchInstance: runs batches of one model instance. Used by one thread at a time: the instance's,
// or one that has the instance on loan. The buffers are reused from batch to batch.
#ifndef NEREID_BACKENDS_PYTORCH_INSTANCE_H_
#define NEREID_BACKENDS_PYTORCH_INSTANCE_H_

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <vector>

#include "backends/pytorch/model.h"
#include "backends/sdk/batch.h"
#include "backends/sdk/graph/executor.h"

namespace nereid_backend {

class TorchInstance {
 public:
  static Result<std::unique_ptr<TorchInstance>> Create(TRITONBACKEND_ModelInstance* instance,
                                                       const TorchModel& model);
  ~TorchInstance();

  // Answers the requests of `batch`; see GraphExecutor. Waits while other runs have the CPUs,
  // unless the calling thread has the instance on loan.
  Error Execute(Batch* batch);

 private:
  TorchInstance(TRITONBACKEND_ModelInstance* handle, const TorchModel& model,
                std::shared_ptr<const Network> network);

  Error Compute();
  std::vector<c10::IValue> MakeArguments();
  c10::IValue MakeInput(RunInput* input, size_t argument);
  Error TakeOutputs();
  Result<c10::IValue> FindResult(const Named& place) const;
  // Drops all references to the requests' memory.
  Error LetGo();

  TRITONBACKEND_ModelInstance* const handle_;
  const TorchModel& model_;
  const std::shared_ptr<const Network> network_;
  const bool copies_inputs_;
  GraphExecutor executor_;
  // State of the current run.
  std::vector<at::Tensor> views_;  // over memory of requests
  std::vector<c10::IValue> results_;
  std::vector<at::Tensor> kept_;  // per output: keeps the data alive to which it points
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_INSTANCE_H_
