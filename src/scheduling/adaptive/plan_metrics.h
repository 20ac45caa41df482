// The metrics of an adaptive batcher's plan. Stateless.
#ifndef NEREID_SCHEDULING_ADAPTIVE_PLAN_METRICS_H_
#define NEREID_SCHEDULING_ADAPTIVE_PLAN_METRICS_H_

#include "observe/metrics/metric_sink.h"
#include "scheduling/adaptive/batch_plan.h"

namespace nereid {

void DescribeMetrics(const BatchPlan& plan, MetricSink* sink);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ADAPTIVE_PLAN_METRICS_H_
