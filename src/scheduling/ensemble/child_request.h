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

// `shape`, of a tensor with or without batch dimension, for a model that sees `rank` dimensions
// apart from it. A leading 1 is added or removed where that makes the ranks equal; otherwise, and
// where the ranks are as they should, the shape stays as it is.
Shape BridgeShape(absl::Span<const int64_t> shape, bool batched, size_t rank);

// Id, sequence, priority, time-out and parameters of `parent`.
void CopyHeader(const InferRequest& parent, InferRequest* child);

// Adds the tensor as input `name`, without a copy, if it is there. What it says of the sequence
// goes before what the child has. INVALID_ARGUMENT for a name that the request has already.
absl::Status AddChildInput(const std::string& name, const TensorValue& value, InferRequest* child);

// What the parameters of a response say of the sequence; null: nothing. INVALID_ARGUMENT for a
// parameter of another type.
absl::StatusOr<std::shared_ptr<const SequenceOverride>> ReadSequenceOverride(
    const InferResponse& response);
// The same as parameters of the ensemble's response.
void AddSequenceParameters(const SequenceOverride& sequence, InferResponse* response);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_CHILD_REQUEST_H_
