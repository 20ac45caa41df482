#include "scheduling/dynamic/dropped_requests.h"

#include <absl/status/status.h>

#include <utility>

#include "base/caught.h"
#include "infer/infer_request.h"

namespace nereid {
namespace {

constexpr char kTimedOut[] = "Request timeout expired";

void AnswerAll(std::vector<RequestPtr> requests, const absl::Status& error, FailureReason reason) {
  for (RequestPtr& request : requests) {
    request->RespondError(error, reason);
    request.reset();
  }
}

}  // namespace

void DroppedRequests::Answer() noexcept {
  // Usually there are none, and then no error has to be made.
  if (!cancelled.empty()) {
    AnswerAll(std::exchange(cancelled, {}), absl::CancelledError(""), FailureReason::kCanceled);
  }
  if (!expired.empty()) {
    AnswerAll(std::exchange(expired, {}), SureStatus(absl::StatusCode::kUnavailable, kTimedOut),
              FailureReason::kRejected);
  }
}

}  // namespace nereid
