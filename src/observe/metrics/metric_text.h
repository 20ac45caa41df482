// SPDX-License-Identifier: Apache-2.0
// The lines of the Prometheus text (exposition format 0.0.4). Pure functions.
#ifndef NEREID_OBSERVE_METRICS_METRIC_TEXT_H_
#define NEREID_OBSERVE_METRICS_METRIC_TEXT_H_

#include <absl/strings/string_view.h>

#include <string>

#include "observe/metrics/metric_kind.h"
#include "observe/metrics/metric_sink.h"

namespace nereid {

// The lines before the samples of a family: its help text and its kind.
void AppendMetricHeader(absl::string_view name, MetricKind kind, absl::string_view help,
                        std::string* out);
// `labels`: as they stand between the braces; empty: there are none.
void AppendMetricSample(absl::string_view name, absl::string_view labels, double value,
                        std::string* out);
void AppendHistogramSamples(absl::string_view name, absl::string_view labels,
                            const HistogramNumbers& numbers, std::string* out);
void AppendSummarySamples(absl::string_view name, absl::string_view labels,
                          const SummaryNumbers& numbers, std::string* out);
// A sample's value: whole numbers in digits only (1000000, not 1e+06), for scripts that read them
// as integers.
void AppendMetricValue(double value, std::string* out);
// `value` as a label value: backslash, quote and newline escaped.
std::string EscapeLabelValue(absl::string_view value);

}  // namespace nereid

#endif  // NEREID_OBSERVE_METRICS_METRIC_TEXT_H_
