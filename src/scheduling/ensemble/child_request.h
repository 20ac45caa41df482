// What an ensemble's request becomes for the model of a step, and back. Pure functions.
#ifndef NEREID_SCHEDULING_ENSEMBLE_CHILD_REQUEST_H_
#define NEREID_SCHEDULING_ENSEMBLE_CHILD_REQUEST_H_

#include <absl/status/statusor.h>
#include <absl/types/span.h>

#include <cstddef>
#include <memory>

#include "infer/infer_request.h"
#include "infer/response.h"
#include "scheduling/ensemble/tensor_pool.h"

namespace nereid {

// `shape` for a model that sees `rank` dimensions apart from the batch dimension, which it has if
// `batched`. A leading 1 is added or removed if that makes the ranks equal; otherwise the shape
// stays as it is.
Shape BridgeShape(absl::Span<const int64_t> shape, bool batched, size_t rank);

// Copies id, sequence, priority, time-out and parameters.
void CopyHeader(const InferRequest& parent, InferRequest* child);

// Adds the tensor as input `name`, without a copy, unless it is absent. What the tensor says about
// the sequence replaces the values of `child`. INVALID_ARGUMENT if `child` has the name already.
absl::Status AddChildInput(const std::string& name, const TensorValue& value, InferRequest* child);

// What the parameters of a response say about the sequence; null: nothing. INVALID_ARGUMENT for a
// parameter of the wrong type.
absl::StatusOr<std::shared_ptr<const SequenceOverride>> ReadSequenceOverride(
    const InferResponse& response);
// Adds `sequence` as parameters to the ensemble's response.
void AddSequenceParameters(const SequenceOverride& sequence, InferResponse* response);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_CHILD_REQUEST_H_
