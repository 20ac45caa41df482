// SPDX-License-Identifier: Apache-2.0
// MetricKind: how a metric counts. A plain value.
#ifndef NEREID_OBSERVE_METRICS_METRIC_KIND_H_
#define NEREID_OBSERVE_METRICS_METRIC_KIND_H_

namespace nereid {

// Values equal TRITONSERVER_MetricKind, which has no summaries: those are the server's own.
enum class MetricKind : int { kCounter = 0, kGauge = 1, kHistogram = 2, kSummary = 3 };

}  // namespace nereid

#endif  // NEREID_OBSERVE_METRICS_METRIC_KIND_H_
