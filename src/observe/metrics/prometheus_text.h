// SPDX-License-Identifier: Apache-2.0
// The Prometheus text (exposition format 0.0.4) of the server's metrics. Pure functions.
#ifndef NEREID_OBSERVE_METRICS_PROMETHEUS_TEXT_H_
#define NEREID_OBSERVE_METRICS_PROMETHEUS_TEXT_H_

#include <optional>
#include <string>
#include <vector>

#include "observe/metrics/gauges.h"
#include "observe/metrics/machine_usage.h"
#include "observe/metrics/model_metrics.h"

namespace nereid {

// The families that models reported, those of docs/reference/metrics.md section 3, then `gauges`.
std::string PrometheusText(const ModelMetrics& models, const std::optional<MachineSample>& machine,
                           const std::vector<GaugeSample>& gauges);

}  // namespace nereid

#endif  // NEREID_OBSERVE_METRICS_PROMETHEUS_TEXT_H_
