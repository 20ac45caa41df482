// RequestLifecycle: the states of a request and the steps allowed between them. Thread-compatible.
//
//   INITIALIZED -> PENDING | RELEASED
//   PENDING     -> EXECUTING | RELEASED | FAILED_ENQUEUE
//   EXECUTING   -> RELEASED | PENDING (rescheduled)
//   RELEASED, FAILED_ENQUEUE -> INITIALIZED (issued anew)
#ifndef NEREID_INFER_REQUEST_LIFECYCLE_H_
#define NEREID_INFER_REQUEST_LIFECYCLE_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include "base/export.h"

namespace nereid {

enum class RequestState { kInitialized, kPending, kExecuting, kReleased, kFailedEnqueue };

class NEREID_API RequestLifecycle {
 public:
  RequestState state() const { return state_; }
  // INTERNAL "<prefix>Invalid request state transition from A to B" for a step not drawn above;
  // staying in a state is allowed.
  absl::Status MoveTo(RequestState next, absl::string_view log_prefix);

 private:
  RequestState state_ = RequestState::kInitialized;
};

}  // namespace nereid

#endif  // NEREID_INFER_REQUEST_LIFECYCLE_H_
