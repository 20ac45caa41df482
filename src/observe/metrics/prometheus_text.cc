// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/prometheus_text.h"

#include "observe/metrics/metric_text.h"

namespace nereid {
namespace {

void AppendPlainGauge(absl::string_view name, absl::string_view help, double value,
                      std::string* out) {
  AppendMetricHeader(name, MetricKind::kGauge, help, out);
  AppendMetricSample(name, "", value, out);
}

}  // namespace

std::string PrometheusText(const ModelMetrics& models, const std::optional<MachineSample>& machine,
                           const std::vector<GaugeSample>& gauges) {
  std::string out = models.Text();
  // There is no pinned memory without a GPU; dashboards still look for the pool.
  AppendPlainGauge("nv_pinned_memory_pool_total_bytes",
                   "Pinned memory pool total memory size, in bytes", 0, &out);
  AppendPlainGauge("nv_pinned_memory_pool_used_bytes",
                   "Pinned memory pool used memory size, in bytes", 0, &out);
  if (machine.has_value()) {
    AppendPlainGauge("nv_cpu_utilization", "CPU utilization rate [0.0 - 1.0]",
                     machine->cpu_utilization, &out);
    AppendPlainGauge("nv_cpu_memory_total_bytes", "CPU total memory (RAM), in bytes",
                     static_cast<double>(machine->memory_total_bytes), &out);
    AppendPlainGauge("nv_cpu_memory_used_bytes", "CPU used memory (RAM), in bytes",
                     static_cast<double>(machine->memory_used_bytes), &out);
  }
  for (const GaugeSample& gauge : gauges) {
    AppendPlainGauge(gauge.name, gauge.help, gauge.value, &out);
  }
  return out;
}

}  // namespace nereid
