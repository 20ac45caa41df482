// SPDX-License-Identifier: Apache-2.0
/* What this library offers beyond the interface of triton/core/tritonserver.h. A program that uses
 * it needs this library; with Triton's it does not link. */
#ifndef NEREID_NEREID_SERVER_H_
#define NEREID_NEREID_SERVER_H_

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Issues a request like TRITONSERVER_ServerInferAsync, with the same rules of ownership, callbacks
/// and errors, and lends the calling thread to the server: if the model is short and one of its
/// instances is idle, the model executes on the calling thread, and its callbacks have run when
/// the function returns. Otherwise the function returns at once and the callbacks come later, from
/// another thread. Which of the two happens may change from call to call, so a caller that wants
/// to block waits for its callbacks in either case.
///
/// Short are models whose last executions took at most 100 microseconds, and whose backend or
/// configuration allows it (docs/architecture/threading.md). The thread may execute requests of
/// other callers, too, that arrive meanwhile, for about a millisecond; it needs the stack that the
/// backend needs. In a callback or a backend that runs within such a call, the function lends
/// nothing: it is TRITONSERVER_ServerInferAsync.
///
/// Why: waking another thread and being woken costs 40 to 60 microseconds, ten times a small model.
/// Thread-safe.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* NEREID_ServerInferInline(
    struct TRITONSERVER_Server* server, struct TRITONSERVER_InferenceRequest* inference_request,
    struct TRITONSERVER_InferenceTrace* trace);

#ifdef __cplusplus
}
#endif

#endif /* NEREID_NEREID_SERVER_H_ */
