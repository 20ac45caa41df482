// SPDX-License-Identifier: Apache-2.0
// What the metrics page shows of the statistics of a model version. Pure functions.
#ifndef NEREID_OBSERVE_STATS_STATISTICS_METRICS_H_
#define NEREID_OBSERVE_STATS_STATISTICS_METRICS_H_

#include "observe/metrics/metric_sink.h"
#include "observe/stats/model_statistics.h"

namespace nereid {

void ReportRequests(const StatisticsSnapshot& statistics, MetricSink* sink);
// The sums of durations (MetricsConfig::counter_latencies).
void ReportDurations(const StatisticsSnapshot& statistics, MetricSink* sink);
// For models that use the response cache.
void ReportCache(const StatisticsSnapshot& statistics, MetricSink* sink);
// Histograms and summaries, as far as they are recorded. `statistics`: those of which `latencies`
// are a part. `now_ns`: of the steady clock.
void ReportLatencies(const Latencies& latencies, const StatisticsSnapshot& statistics,
                     uint64_t now_ns, MetricSink* sink);

}  // namespace nereid

#endif  // NEREID_OBSERVE_STATS_STATISTICS_METRICS_H_
