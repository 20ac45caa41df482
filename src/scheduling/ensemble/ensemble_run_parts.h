// SPDX-License-Identifier: Apache-2.0
// Parts of EnsembleRun that only its own sources see. See the class for threads.
#ifndef NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_RUN_PARTS_H_
#define NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_RUN_PARTS_H_

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "infer/infer_request.h"
#include "infer/response_credit.h"
#include "infer/response_stream.h"
#include "infer/serving_model.h"
#include "scheduling/ensemble/ensemble_context.h"
#include "scheduling/ensemble/ensemble_run.h"
#include "scheduling/ensemble/step_graph.h"
#include "scheduling/ensemble/tensor_pool.h"

namespace nereid {

// One execution of a step. Owns itself: freed once it has its final answer, its request was
// released, and no thread has pinned it.
struct EnsembleRun::Call {
  Call(std::shared_ptr<EnsembleRun> run_in, StepRun step_in, std::shared_ptr<ServingModel> model,
       int64_t version)
      : run(std::move(run_in)), step(step_in), request(std::move(model), version) {}

  const std::shared_ptr<EnsembleRun> run;
  const StepRun step;
  InferRequest request;
  std::shared_ptr<ResponseCredit> credit;  // of a decoupled step; null: it always has credit
  // Guarded by the run's mutex.
  bool issued = false;  // true: may be cancelled
  bool gave_outputs = false;
  bool answered = false;
  bool released = false;
  int pins = 1;  // the first is that of the thread that issues the call
};

// What to do once the mutex was released. The destructor frees tensors and calls.
struct EnsembleRun::Work {
  StepRuns start;
  StepGate::Entries others;   // executions that may start because one of this run has ended
  StepGate::Entries removed;  // this run's, which start no more
  absl::InlinedVector<Call*, 4> cancel;  // pinned
  absl::InlinedVector<TensorBytes, 2> freed;
  std::unique_ptr<Call> closed;
  ResponseCredit::Woken credited;
  // The request whose credit is awaited, and the models that must not wait for it when they end.
  std::shared_ptr<ResponseStream> awaited;
  absl::InlinedVector<std::shared_ptr<ServingModel>, 4> members;
  bool deliver = false;
  bool end = false;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_RUN_PARTS_H_
