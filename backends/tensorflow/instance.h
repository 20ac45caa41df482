// SPDX-License-Identifier: Apache-2.0
// TensorflowInstance: runs batches of one model instance through its own channel to the model's
// process. Used by one thread at a time: the instance's, or one that has the instance on loan.
#ifndef NEREID_BACKENDS_TENSORFLOW_INSTANCE_H_
#define NEREID_BACKENDS_TENSORFLOW_INSTANCE_H_

#include <memory>
#include <vector>

#include "backends/sdk/batch.h"
#include "backends/sdk/graph/executor.h"
#include "backends/tensorflow/channel.h"
#include "backends/tensorflow/model.h"

namespace nereid_backend {

class TensorflowInstance {
 public:
  static Result<std::unique_ptr<TensorflowInstance>> Create(TRITONBACKEND_ModelInstance* instance,
                                                            const TensorflowModel& model);

  // Answers the requests of `batch`; see GraphExecutor.
  Error Execute(Batch* batch);
  // Whether the model's process serves or starts. Any thread; does not block.
  Error Ready() const { return model_.supervisor().Ready(); }

 private:
  TensorflowInstance(TRITONBACKEND_ModelInstance* handle, const TensorflowModel& model);

  // Opens a channel if there is none to a living worker. That may take as long as loading the
  // model, so a thread that has the instance on loan gets an error instead: how the worker ended.
  Error Connect();
  // Runs what the executor has ready.
  Error Compute();
  // Lays the inputs out in the channel's memory.
  Error PlaceInputs();
  // Reports the results of the run to the executor.
  Error TakeOutputs();

  TRITONBACKEND_ModelInstance* const handle_;
  const TensorflowModel& model_;
  GraphExecutor executor_;
  // The worker's numbers of the model's inputs, computed ones last, and outputs.
  std::vector<uint32_t> input_numbers_;
  std::vector<uint32_t> output_numbers_;
  std::unique_ptr<Channel> channel_;
  // Reused by each run.
  nereid_tensorflow::RunRequest request_;
  nereid_tensorflow::RunReply reply_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_INSTANCE_H_
