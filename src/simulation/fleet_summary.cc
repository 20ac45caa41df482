// SPDX-License-Identifier: Apache-2.0
#include <absl/algorithm/container.h>

#include <algorithm>

#include "simulation/fleet.h"

namespace nereid {

FleetSummary Summarise(const std::vector<SimulatedRequest>& load, const FleetResult& result,
                       uint64_t goal_ns) {
  FleetSummary summary;
  std::vector<uint64_t> latencies;
  for (size_t i = 0; i < load.size(); ++i) {
    if (result.requests[i].outcome != FlightOutcome::kOk) continue;
    latencies.push_back(result.requests[i].ended_ns - load[i].arrival_ns);
    if (goal_ns > 0 && latencies.back() > goal_ns) ++summary.late;
  }
  summary.answered = latencies.size();
  summary.unserved = load.size() - latencies.size();
  absl::c_sort(latencies);
  summary.p50_ns = Quantile(latencies, 0.5);
  summary.p99_ns = Quantile(latencies, 0.99);
  if (result.executions > 0) {
    summary.mean_batch =
        static_cast<double>(result.executed) / static_cast<double>(result.executions);
  }
  if (!load.empty() && result.ended_ns > load.front().arrival_ns) {
    summary.throughput = static_cast<double>(summary.answered) /
                         (static_cast<double>(result.ended_ns - load.front().arrival_ns) * 1e-9);
  }
  if (result.instance_seconds > 0) summary.busy = result.busy_seconds / result.instance_seconds;
  for (const NodeCount& count : result.counts) {
    summary.most_nodes = std::max(summary.most_nodes, count.all());
  }
  return summary;
}

}  // namespace nereid
