// Run: an infer request of the runtime, together with the executor that divides a batch into runs,
// and the transfer of tensors between the two. Used by one thread at a time; the buffers are reused
// from batch to batch.
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
  // May throw ov::Exception. `model` outlives the run.
  explicit Run(const OpenVinoModel& model);

  GraphExecutor& executor() { return executor_; }
  ov::InferRequest& request() { return request_; }

  // Enclose the time in which the infer request runs: it is stopped if nobody waits for the results
  // any more. EndWatch returns the outcome, CANCELLED if the run was stopped.
  void BeginWatch() { watched_.Begin(executor_.requests()); }
  Error EndWatch(Error ran);

  // Hands what the executor has ready to the infer request. May throw ov::Exception.
  void SetTensors();

  // Call after the infer request has run: points the executor's outputs to the results. False if a
  // result is smaller than its buffer, so that it must be computed again without one. May throw
  // ov::Exception.
  bool TakeOutputs();

  // Call after a result did not fit its buffer: prepares the same run without buffers, and has the
  // shapes learned anew. False if no output had a buffer.
  bool Replan();

 private:
  void Cancel();

  const OpenVinoModel& model_;
  GraphExecutor executor_;
  ov::InferRequest request_;
  RunWatch::Watched watched_;  // stops request_
  // Per output of the model: memory for a result without a buffer, once a response has lent its own
  // memory to the runtime, and whether that is the case.
  std::vector<ov::Tensor> own_outputs_;
  std::vector<bool> lent_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_RUN_H_
