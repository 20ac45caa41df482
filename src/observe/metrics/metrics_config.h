// SPDX-License-Identifier: Apache-2.0
// MetricsConfig: which latencies of models become metrics (--metrics-config,
// TRITONSERVER_ServerOptionsSetMetricsConfig). A plain value.
#ifndef NEREID_OBSERVE_METRICS_METRICS_CONFIG_H_
#define NEREID_OBSERVE_METRICS_METRICS_CONFIG_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <vector>

#include "base/export.h"

namespace nereid {

struct MetricsConfig {
  bool counter_latencies = true;     // nv_inference_*_duration_us and the counters of the cache
  bool summary_latencies = false;    // nv_*_summary_*
  bool histogram_latencies = false;  // nv_inference_first_response_histogram_ms
  bool latency_histograms = true;    // nereid_*_duration_seconds
  std::vector<double> summary_quantiles = {0.5, 0.9, 0.95, 0.99, 0.999};  // each 0 to 1

  // Of a server without metrics: nothing is recorded for them.
  static MetricsConfig Off() { return {false, false, false, false, {}}; }
  // Changes one setting by its name, which is that of the member. INVALID_ARGUMENT for an unknown
  // name or a bad value.
  NEREID_API absl::Status Set(absl::string_view name, absl::string_view value);
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_METRICS_METRICS_CONFIG_H_
