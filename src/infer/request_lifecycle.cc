#include "infer/request_lifecycle.h"

#include <absl/strings/str_cat.h>

namespace nereid {
namespace {

const char* Name(RequestState state) {
  switch (state) {
    case RequestState::kInitialized:
      return "INITIALIZED";
    case RequestState::kPending:
      return "PENDING";
    case RequestState::kExecuting:
      return "EXECUTING";
    case RequestState::kReleased:
      return "RELEASED";
    case RequestState::kFailedEnqueue:
      return "FAILED_ENQUEUE";
  }
  return "UNKNOWN";
}

bool Allowed(RequestState from, RequestState to) {
  switch (from) {
    case RequestState::kInitialized:
      return to == RequestState::kPending || to == RequestState::kReleased;
    case RequestState::kPending:
      return to == RequestState::kExecuting || to == RequestState::kReleased ||
             to == RequestState::kFailedEnqueue;
    case RequestState::kExecuting:
      return to == RequestState::kReleased || to == RequestState::kPending;
    case RequestState::kReleased:
    case RequestState::kFailedEnqueue:
      return to == RequestState::kInitialized;
  }
  return false;
}

}  // namespace

absl::Status RequestLifecycle::MoveTo(RequestState next, absl::string_view log_prefix) {
  if (next == state_) return absl::OkStatus();
  if (!Allowed(state_, next)) {
    return absl::InternalError(absl::StrCat(log_prefix, "Invalid request state transition from ",
                                            Name(state_), " to ", Name(next)));
  }
  state_ = next;
  return absl::OkStatus();
}

}  // namespace nereid
