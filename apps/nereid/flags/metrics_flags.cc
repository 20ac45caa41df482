// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include "flags/flag_table.h"
#include "observe/record/flight_recorder.h"
#include "options/flag_kinds.h"

namespace nereid {
namespace {

absl::Status AddMetricsConfig(absl::string_view value, MetricsConfig* config) {
  const size_t equals = value.find('=');
  // Triton reads a comma before the '=' as the end of a group's name, and has no groups.
  if (equals == absl::string_view::npos || equals == 0 || value.find(',') < equals) {
    return absl::InvalidArgumentError(
        absl::StrCat("--metrics-config option format is <setting>=<value>. Got ", value, "\n"));
  }
  return config->Set(value.substr(0, equals), value.substr(equals + 1));
}

}  // namespace

FlagGroup MetricsFlags(Settings* s) {
  return {
      "Metrics",
      {BooleanFlag("allow-metrics", &s->server.metrics, "Collect metrics and serve them."),
       BooleanFlag("allow-cpu-metrics", &s->server.cpu_metrics,
                   "Include the machine's processor and memory use."),
       WithDefaultText("that of HTTP",
                       StringFlag("metrics-address", &s->metrics.address, "Address to listen on.")),
       Usual(PortFlag("metrics-port", &s->metrics.port, &s->port_errors)),
       IntegerFlag("metrics-interval-ms", &s->server.metrics_interval_ms, {1, kMaxInt},
                   "Milliseconds that a reading of the machine's use is kept."),
       IntegerFlag("recorder-events", &s->server.recorder_events,
                   {0, static_cast<int64_t>(FlightRecorder::kMostEvents)},
                   "Requests, and as many executions, that each instance of a model remembers "
                   "for /v2/nereid; about 300 bytes each. 0: none."),
       Repeated(
           {"metrics-config", "<string>", "",
            "<setting>=<value>: which latencies of models become metrics. counter_latencies "
            "(true), summary_latencies (false), histogram_latencies (false) and latency_histograms "
            "(true) switch kinds of metrics; summary_quantiles=<quantile>:<error>,... May be given "
            "several times.",
            [s](absl::string_view value) {
              return AddMetricsConfig(value, &s->server.metrics_config);
            }})}};
}

}  // namespace nereid
