// SPDX-License-Identifier: Apache-2.0
// Server::MetricsText: collects the text of the metrics page.
#include "lifecycle/model_manager.h"
#include "observe/metrics/custom_metrics.h"
#include "observe/metrics/machine_usage.h"
#include "observe/metrics/prometheus_text.h"
#include "server/server.h"

namespace nereid {

absl::StatusOr<std::string> Server::MetricsText() const {
  if (!options_.metrics) return absl::UnavailableError("metrics are switched off");
  ModelMetrics models;
  for (const auto& [name, entry] : models_->Directory().models) {
    for (const auto& [version, v] : entry.versions) {
      if (v.model() == nullptr) continue;
      const CompiledModel& config = v.model()->config();
      models.BeginVersion(entry.id.name, version, entry.id.space, config.metric_tags,
                          GpuOf(config));
      v.model()->DescribeMetrics(&models);
    }
  }
  std::optional<MachineSample> machine;
  if (machine_usage_ != nullptr) machine = machine_usage_->Sample();
  return PrometheusText(models, ReadDevices(), machine, gauges_.Read()) +
         CustomMetrics::Global()->Text();
}

}  // namespace nereid
