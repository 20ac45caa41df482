// What requests and responses tell their traces. Stateless.
#ifndef NEREID_INFER_REQUEST_TRACE_H_
#define NEREID_INFER_REQUEST_TRACE_H_

#include "infer/infer_request.h"
#include "infer/response.h"
#include "observe/trace/inference_trace.h"

namespace nereid {

// Traces a valid request that is about to go to its scheduler: names, start of the request and of
// the queue, and the inputs as they were sent. Notes the start of the queue in the request.
// REQUIRES: the request has a trace, and has begun its flight.
void TraceIssued(InferRequest* request);

// Traces that the request goes to its backend as one of `batch_requests`: the batch, whose id is
// `*batch_id` (made if it is 0), and all inputs in the shapes that the backend sees. REQUIRES: the
// request has a trace.
void TraceLent(InferRequest* request, size_t batch_requests, uint64_t* batch_id) noexcept;

// Traces the outputs of a response; an error has none.
void TraceOutputs(InferenceTrace* trace, const InferResponse& response);

}  // namespace nereid

#endif  // NEREID_INFER_REQUEST_TRACE_H_
