// SPDX-License-Identifier: Apache-2.0
// Run: an infer request of the runtime for each graph of a model, together with the executor that
// divides a batch into runs, and the transfer of tensors between the two. Used by one thread at a
// time; the buffers are reused from batch to batch.
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
  // For the run that SetTensors has prepared; before that, for batches of any size.
  ov::InferRequest& request() { return current_->request; }

  // Enclose the time in which the infer request runs: it is stopped if nobody waits for the results
  // any more. EndWatch returns the outcome, CANCELLED if the run was stopped.
  void BeginWatch() { watched_.Begin(executor_.requests()); }
  Error EndWatch(Error ran);

  // Hands what the executor has ready to the infer request of the graph for that size. May throw
  // ov::Exception.
  void SetTensors();

  // Call after the infer request has run: points the executor's outputs to the results. False if a
  // result is smaller than its buffer, so that it must be computed again without one. May throw
  // ov::Exception.
  bool TakeOutputs();

  // Call after a result did not fit its buffer: prepares the same run without buffers, and has the
  // shapes learned anew. False if no output had a buffer.
  bool Replan();

 private:
  // An infer request and, per output of the model: memory for a result without a buffer, once a
  // response has lent its own memory to the runtime, and whether that is the case.
  struct Request {
    explicit Request(ov::InferRequest made);

    int64_t rows = 0;  // of all its batches; 0: of any size
    ov::InferRequest request;
    std::vector<ov::Tensor> own_outputs;
    std::vector<bool> lent;
  };

  Request& RequestFor(int64_t rows);
  void Cancel();

  const OpenVinoModel& model_;
  GraphExecutor executor_;
  std::vector<Request> requests_;  // never changes; the first is for batches of any size
  Request* current_ = nullptr;     // does not change while it is watched
  RunWatch::Watched watched_;      // stops *current_
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_RUN_H_
