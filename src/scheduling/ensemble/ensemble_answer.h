// EnsembleAnswer: one answer to a request to an ensemble, on its way from the tensors of the steps
// to the client; and what errors and statistics of ensembles look like. Thread-compatible.
#ifndef NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_ANSWER_H_
#define NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_ANSWER_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/status.h>

#include <memory>

#include "infer/compute_times.h"
#include "infer/infer_request.h"
#include "scheduling/ensemble/ensemble_context.h"
#include "scheduling/ensemble/run_progress.h"
#include "scheduling/ensemble/tensor_pool.h"

namespace nereid {

struct EnsembleAnswer {
  struct Output {
    uint32_t index = 0;  // of the ensemble's outputs
    uint32_t tensor = 0;
    uint32_t iteration = 0;
    // What is sent: the last use of the value, which is in here, or a copy of what the pool keeps.
    TensorValue value;
    bool in_pool = false;
    OutputBuffer kept;  // in_pool
  };
  absl::InlinedVector<Output, 2> outputs;  // none: only the flag is sent
  bool is_final = false;
  // Instead of outputs. Final.
  absl::Status error;
  FailureReason reason = FailureReason::kOther;
};

// The wanted outputs of an iteration. Those that `pool` keeps for others need an EndUse when the
// answer was sent. REQUIRES: they are complete.
EnsembleAnswer CollectAnswer(const StepGraph& graph, const StepPlan& plan, uint32_t iteration,
                             TensorPool* pool);

// Sends it. An answer that cannot be sent, for want of memory, is an error: of a final one the
// client has been told. May hold the thread, as ResponseTarget says.
absl::Status SendAnswer(const EnsembleContext& context, InferRequest* request,
                        EnsembleAnswer* answer);

// "in ensemble '<e>', <error>", and of which step; negative: of none.
absl::Status EnsembleError(const EnsembleContext& context, const absl::Status& error, int step);
// Of a request for which nothing more can run and a wanted output has never come.
absl::Status MissingOutputError(const EnsembleContext& context, const InferRequest& request,
                                const StepPlan& plan, const RunProgress& progress);

// One request that was answered; `times`: of its steps.
void RecordEnsembleSuccess(const EnsembleContext& context, const InferRequest& request,
                           const ComputeTimes& times);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_ANSWER_H_
