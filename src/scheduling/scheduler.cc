// SPDX-License-Identifier: Apache-2.0
#include "scheduling/scheduler.h"

#include <absl/strings/str_cat.h>

#include "infer/infer_request.h"

namespace nereid {
namespace {

constexpr MetricFamily kInlineExecutions = {"nereid_inline_execution_count", MetricKind::kCounter,
                                            "Number of model executions performed by I/O threads",
                                            MetricSection::kExecutions};

}  // namespace

void Scheduler::DescribeMetrics(MetricSink* sink) const {
  sink->Report(kInlineExecutions, inline_executions());
}

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
