// SPDX-License-Identifier: Apache-2.0
// What an ensemble's request becomes for the model of a step, and what the answers of the steps
// become for the client. Also the errors and the statistics of ensembles. Thread-compatible.
#ifndef NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_MESSAGES_H_
#define NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_MESSAGES_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/types/span.h>

#include <cstddef>
#include <memory>

#include "infer/infer_request.h"
#include "infer/response.h"
#include "scheduling/ensemble/ensemble_context.h"
#include "scheduling/ensemble/step_graph.h"
#include "scheduling/ensemble/tensor_pool.h"

namespace nereid {

// ---- To the model of a step, and back. Pure functions.

// `shape` for a model that sees `rank` dimensions apart from the batch dimension, which it has if
// `batched`. A leading 1 is added or removed if that makes the ranks equal; otherwise the shape
// stays as it is.
Shape BridgeShape(absl::Span<const int64_t> shape, bool batched, size_t rank);

// Copies id, sequence, priority, time-out and parameters.
void CopyHeader(const RequestContent& parent, RequestContent* child);

// Adds the tensor as input `name`, without a copy, unless it is absent. What the tensor says about
// the sequence replaces the values of `child`. INVALID_ARGUMENT if `child` has the name already.
absl::Status AddChildInput(const std::string& name, const TensorValue& value,
                           RequestContent* child);

// What the parameters of a response say about the sequence; null: nothing. INVALID_ARGUMENT for a
// parameter of the wrong type.
absl::StatusOr<std::shared_ptr<const SequenceOverride>> ReadSequenceOverride(
    const InferResponse& response);
// Adds `sequence` as parameters to the ensemble's response.
void AddSequenceParameters(const SequenceOverride& sequence, InferResponse* response);

// ---- To the client.

// One answer of an ensemble to a request.
struct EnsembleAnswer {
  struct Output {
    uint32_t index = 0;  // of the ensemble's outputs
    uint32_t tensor = 0;
    uint32_t iteration = 0;
    // The value to send. It has the bytes if this is their last use; otherwise the pool keeps them.
    TensorValue value;
    bool in_pool = false;
    OutputBuffer kept;  // with in_pool: the bytes in the pool
  };
  absl::InlinedVector<Output, 2> outputs;  // none: only the flag is sent
  bool is_final = false;
  // Sent instead of outputs. An answer with an error is final.
  absl::Status error;
  FailureReason reason = FailureReason::kOther;

  size_t byte_size() const {
    size_t bytes = 0;
    for (const Output& output : outputs) {
      bytes += output.in_pool ? output.kept.byte_size : output.value.byte_size();
    }
    return bytes;
  }
};

// The wanted outputs of an iteration. Outputs with `in_pool` need an EndUse once the answer was
// sent. REQUIRES: the outputs are complete.
EnsembleAnswer CollectAnswer(const StepGraph& graph, const StepPlan& plan, uint32_t iteration,
                             TensorPool* pool);

// Sends `answer`. Returns an error if the answer could not be sent; if the answer was final, that
// error was sent instead. Never blocks.
absl::Status SendAnswer(const EnsembleContext& context, InferRequest* request,
                        EnsembleAnswer* answer);

// `error` with the text "in ensemble '<e>', <error> (step ...)". A negative `step`: no step.
absl::Status EnsembleError(const EnsembleContext& context, const absl::Status& error, int step);
// The error for a request of which no more step can run although a wanted output is missing.
absl::Status MissingOutputError(const EnsembleContext& context, const InferRequest& request,
                                const StepPlan& plan, const RunProgress& progress);

// Records one request that was answered. `times`: the sums over its steps.
void RecordEnsembleSuccess(const EnsembleContext& context, const InferRequest& request,
                           const ComputeTimes& times);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_MESSAGES_H_
