// The Prometheus text (exposition format 0.0.4) of the server's metrics. Pure functions.
#ifndef NEREID_OBSERVE_METRICS_PROMETHEUS_TEXT_H_
#define NEREID_OBSERVE_METRICS_PROMETHEUS_TEXT_H_

#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "observe/metrics/gauges.h"
#include "observe/metrics/machine_usage.h"
#include "observe/stats/model_statistics.h"

namespace nereid {

struct AdaptiveBatchingSample {
  int64_t delay_us = 0;
  uint64_t batch_size = 0;
};

struct ModelMetricsSample {
  std::string model;
  int64_t version = 0;
  double load_seconds = 0;
  uint64_t inline_executions = 0;
  bool response_cache = false;  // set in the configuration; adds the cache families
  std::optional<AdaptiveBatchingSample> adaptive;  // none: batches are as configured
  std::optional<size_t> peak_step_bytes;           // ensembles only
  int64_t open_requests = 0;                       // including live sequences
  StatisticsSnapshot statistics;
};

// The families of docs/reference/metrics.md, then `gauges`. Samples of a family are in the order
// of `models`; a family without samples is left out.
std::string PrometheusText(const std::vector<ModelMetricsSample>& models,
                           const std::optional<MachineSample>& machine,
                           const std::vector<GaugeSample>& gauges);

// Appends a sample's value. Whole numbers are written in digits only (1000000, not 1e+06), for
// scripts that read them as integers.
void AppendMetricValue(double value, std::string* out);
// `value` as the text of a label: backslash, quote and newline are escaped.
std::string EscapeLabelValue(absl::string_view value);

}  // namespace nereid

#endif  // NEREID_OBSERVE_METRICS_PROMETHEUS_TEXT_H_
