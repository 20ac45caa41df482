// Run: an infer request of the runtime with the executor that takes a batch apart for it, and the
// way of tensors between the two. Used by one thread at a time; the buffers live from batch to
// batch.
#ifndef NEREID_BACKENDS_OPENVINO_RUN_H_
#define NEREID_BACKENDS_OPENVINO_RUN_H_

#include <openvino/runtime/infer_request.hpp>
#include <openvino/runtime/tensor.hpp>
#include <vector>

#include "backends/openvino/model.h"
#include "backends/sdk/graph/executor.h"
#include "backends/sdk/run_watch.h"

namespace nereid_backend {

class Run {
 public:
  // May throw ov::Exception. `model` outlives this.
  explicit Run(const OpenVinoModel& model);

  GraphExecutor& executor() { return executor_; }
  ov::InferRequest& request() { return request_; }

  // Around the time in which the infer request runs: it is stopped when nobody waits for the
  // results any more. EndWatch returns what came of it, CANCELLED where it was stopped.
  void BeginWatch() { watched_.Begin(executor_.requests()); }
  Error EndWatch(Error ran);

  // Hands what the executor has ready to the infer request. May throw ov::Exception.
  void SetTensors();

  // After the infer request has run: points the executor's outputs to the results. False when a
  // result is smaller than its place, so that it has to be computed once more without. May throw
  // ov::Exception.
  bool TakeOutputs();

  // After a result did not fit its place: makes the same run ready without places, and has the
  // shapes learned anew. False when no output had one.
  bool Replan();

 private:
  void Cancel();

  const OpenVinoModel& model_;
  GraphExecutor executor_;
  ov::InferRequest request_;
  RunWatch::Watched watched_;  // stops request_
  // For each output of the model: memory for a result without a place, once a response has lent
  // the runtime another one, and whether that is the case.
  std::vector<ov::Tensor> own_outputs_;
  std::vector<bool> lent_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_RUN_H_
