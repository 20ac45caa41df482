// TorchInstance: runs batches of one model instance. Owned by the instance's thread; the buffers
// are reused from batch to batch.
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

  // Answers the requests of `batch`; see GraphExecutor. Waits while other runs have the CPUs.
  Error Execute(Batch* batch);

 private:
  TorchInstance(const TorchModel& model, std::shared_ptr<const Network> network);

  Error Compute();
  std::vector<c10::IValue> MakeArguments();
  c10::IValue MakeInput(RunInput* input, size_t argument);
  Error TakeOutputs();
  Result<c10::IValue> FindResult(const Named& place) const;
  // Drops all references to the requests' memory.
  Error LetGo();

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
