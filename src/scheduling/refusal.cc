#include "scheduling/refusal.h"

#include <absl/strings/str_cat.h>

namespace nereid {

absl::Status StoppingError(const InferRequest& request) {
  return absl::UnavailableError(absl::StrCat(request.LogPrefix(), kStoppingText));
}

absl::Status RefuseFull(const InferRequest& request, TimePoint now) {
  request.model()->statistics().RecordFailure(ModelStatistics::kModelShard,
                                              FailureReason::kRejected,
                                              ToNanos(now) - request.request_start_ns());
  return absl::UnavailableError(absl::StrCat(request.LogPrefix(), "Exceeds maximum queue size"));
}

}  // namespace nereid
