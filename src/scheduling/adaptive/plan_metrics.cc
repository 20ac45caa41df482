#include "scheduling/adaptive/plan_metrics.h"

#include <chrono>

namespace nereid {
namespace {

constexpr MetricFamily kDelay = {
    "nereid_adaptive_batch_delay_us", MetricKind::kGauge,
    "Longest wait for a batch to grow that adaptive batching has chosen, in microseconds",
    MetricSection::kBatching};
constexpr MetricFamily kSize = {"nereid_adaptive_batch_size", MetricKind::kGauge,
                                "Largest batch that adaptive batching has chosen",
                                MetricSection::kBatching};

}  // namespace

void DescribeMetrics(const BatchPlan& plan, MetricSink* sink) {
  sink->Report(kDelay, plan.delay / std::chrono::microseconds(1));
  sink->Report(kSize, plan.max_units);
}

}  // namespace nereid
