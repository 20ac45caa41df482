// SPDX-License-Identifier: Apache-2.0
#include "simulation/workload.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

namespace nereid {

uint64_t Quantile(const std::vector<uint64_t>& sorted, double q) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<size_t>(q * static_cast<double>(sorted.size()));
  return sorted[std::min(rank, sorted.size() - 1)];
}

std::string BatchesText(const SimulationResult& result) {
  std::string text;
  for (const SimulatedBatch& batch : result.batches) {
    absl::StrAppend(&text, batch.pulled_ns, " ", batch.ended_ns, " instance ", batch.instance, " ",
                    NameOf(batch.why), " [", absl::StrJoin(batch.members, " "), "]");
    if (batch.fillers > 0) absl::StrAppend(&text, " fillers ", batch.fillers);
    text += '\n';
  }
  return text;
}

SimulationSummary Summarise(const std::vector<SimulatedRequest>& load,
                            const SimulationResult& result) {
  SimulationSummary summary;
  std::vector<uint64_t> latencies;
  for (size_t i = 0; i < result.requests.size(); ++i) {
    const SimulatedOutcome& request = result.requests[i];
    if (!request.batch.has_value()) continue;
    latencies.push_back(request.ended_ns - load[i].arrival_ns);
  }
  std::sort(latencies.begin(), latencies.end());
  summary.executed = latencies.size();
  summary.p50_ns = Quantile(latencies, 0.5);
  summary.p90_ns = Quantile(latencies, 0.9);
  summary.p99_ns = Quantile(latencies, 0.99);
  size_t members = 0;
  for (const SimulatedBatch& batch : result.batches) members += batch.members.size();
  if (!result.batches.empty()) {
    summary.mean_batch = static_cast<double>(members) / static_cast<double>(result.batches.size());
  }
  return summary;
}

}  // namespace nereid
