// What requests and responses tell their traces. Stateless.
#ifndef NEREID_INFER_REQUEST_TRACE_H_
#define NEREID_INFER_REQUEST_TRACE_H_

#include "infer/infer_request.h"
#include "infer/response.h"
#include "observe/trace/inference_trace.h"

namespace nereid {

// The request is valid and about to go to its scheduler: names, start of the request and of the
// queue, which is noted in it, and its inputs as they were sent.
// REQUIRES: it has a trace, and has begun its flight.
void TraceIssued(InferRequest* request);

// All that a backend is about to read, in the shapes that it sees. REQUIRES: it has a trace.
void TraceBackendInputs(InferRequest* request) noexcept;

// The outputs of a response; an error has none.
void TraceOutputs(InferenceTrace* trace, const InferResponse& response);

}  // namespace nereid

#endif  // NEREID_INFER_REQUEST_TRACE_H_
