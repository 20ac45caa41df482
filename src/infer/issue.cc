#include "infer/issue.h"

#include <memory>

#include "infer/request_trace.h"
#include "infer/request_validator.h"

namespace nereid {

absl::Status IssueRequest(InferRequest* request, uint64_t now_ns) {
  if (absl::Status valid = RequestValidator::Prepare(request); !valid.ok()) {
    request->model()->lifetime().Leave();
    return valid;
  }
  // From here on the stream holds the pass of the model's gate.
  request->BeginFlight(now_ns);
  if (request->trace() != nullptr) TraceIssued(request);
  ModelStatistics& statistics = request->model()->statistics();
  // Cannot fail: the request is INITIALIZED.
  request->lifecycle().MoveTo(RequestState::kPending, "").IgnoreError();
  statistics.AddPending(1);
  // The scheduler may finish with the request before Enqueue returns: only an error leaves it here.
  const std::shared_ptr<ServingModel> model = request->model();
  RequestPtr owned(request);
  absl::Status enqueued = model->Enqueue(&owned);
  if (enqueued.ok()) return enqueued;
  InferRequest* const back = owned.release();
  statistics.AddPending(-1);
  back->lifecycle().MoveTo(RequestState::kFailedEnqueue, "").IgnoreError();
  back->AbortFlight();
  return enqueued;
}

}  // namespace nereid
