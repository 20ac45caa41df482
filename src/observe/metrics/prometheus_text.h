// SPDX-License-Identifier: Apache-2.0
// The Prometheus text (exposition format 0.0.4) of the server's metrics. Pure functions.
#ifndef NEREID_OBSERVE_METRICS_PROMETHEUS_TEXT_H_
#define NEREID_OBSERVE_METRICS_PROMETHEUS_TEXT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/gpu_usage.h"
#include "observe/metrics/gauges.h"
#include "observe/metrics/machine_usage.h"
#include "observe/metrics/model_metrics.h"

namespace nereid {

struct PoolSample {
  uint64_t total_bytes = 0;
  uint64_t used_bytes = 0;
};

// What is known of GPUs and of the memory for them.
struct DeviceSamples {
  std::vector<GpuSample> gpus;
  PoolSample pinned;                                        // all 0 without GPUs
  std::vector<std::pair<std::string, PoolSample>> on_gpus;  // by the GPU's UUID
};

// The families that models reported, those of docs/reference/metrics.md section 3, then `gauges`.
std::string PrometheusText(const ModelMetrics& models, const DeviceSamples& devices,
                           const std::optional<MachineSample>& machine,
                           const std::vector<GaugeSample>& gauges);

}  // namespace nereid

#endif  // NEREID_OBSERVE_METRICS_PROMETHEUS_TEXT_H_
