#include "scheduling/scheduler.h"

namespace nereid {
namespace {

constexpr MetricFamily kInlineExecutions = {"nereid_inline_execution_count", MetricKind::kCounter,
                                            "Number of model executions performed by I/O threads",
                                            MetricSection::kExecutions};

}  // namespace

void Scheduler::DescribeMetrics(MetricSink* sink) const {
  sink->Report(kInlineExecutions, inline_executions());
}

}  // namespace nereid
