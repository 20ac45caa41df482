// IssueRequest: passes a request whose model was found to that model's scheduler. Stateless.
#ifndef NEREID_INFER_ISSUE_H_
#define NEREID_INFER_ISSUE_H_

#include <absl/status/status.h>

#include <cstdint>

#include "base/export.h"
#include "infer/infer_request.h"
#include "infer/model_pass.h"

namespace nereid {

// Checks the request and queues it. On OK it belongs to the server until its release callback; on
// an error, or an exception, it stays with the caller, together with its trace, and no callback of
// it runs. Never blocks.
// REQUIRES: the request is INITIALIZED, and `pass` is of its model.
NEREID_API absl::Status IssueRequest(ModelPass pass, InferRequest* request, uint64_t now_ns);

}  // namespace nereid

#endif  // NEREID_INFER_ISSUE_H_
