// SPDX-License-Identifier: Apache-2.0
// What requests and responses tell their traces. Stateless.
#ifndef NEREID_INFER_REQUEST_TRACE_H_
#define NEREID_INFER_REQUEST_TRACE_H_

#include <absl/types/span.h>

#include "infer/infer_request.h"
#include "infer/request_ptr.h"
#include "infer/response.h"
#include "observe/trace/inference_trace.h"

namespace nereid {

// Traces a valid request that is about to go to its scheduler: names, start of the request and of
// the queue, and the inputs as they were sent. Notes the start of the queue in the request.
// REQUIRES: the request has a trace, and has begun its flight.
void TraceIssued(InferRequest* request);

// Traces that `batch` goes to its backend: for each request with a trace the batch, and all inputs
// in the shapes that the backend sees. Inputs on GPUs that TraceIssued has left out come first:
// this copies them, and blocks meanwhile, unless the receiver takes memory of GPUs.
void TraceLent(absl::Span<const RequestPtr> batch) noexcept;

// Traces the outputs of a response, or its error. Copies outputs on GPUs in the same way.
void TraceResponse(InferenceTrace* trace, const InferResponse& response);

}  // namespace nereid

#endif  // NEREID_INFER_REQUEST_TRACE_H_
