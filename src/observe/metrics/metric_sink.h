// SPDX-License-Identifier: Apache-2.0
// MetricSink: receives the numbers that models report for the metrics page. MetricFamily: the name
// and description of such a number, defined beside the code that computes it.
#ifndef NEREID_OBSERVE_METRICS_METRIC_SINK_H_
#define NEREID_OBSERVE_METRICS_METRIC_SINK_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <type_traits>

#include "observe/metrics/metric_kind.h"

namespace nereid {

// The parts of the page, from top to bottom. Within a part, families are in the order in which they
// were first reported.
enum class MetricSection { kRequests, kExecutions, kVersion, kCache, kBatching, kEnsemble, kMore };

// Constant, and exists as long as the program runs, because sinks keep pointers to it.
struct MetricFamily {
  const char* name;
  MetricKind kind;
  const char* help;
  MetricSection section = MetricSection::kMore;
};

struct MetricLabel {
  absl::string_view name;
  absl::string_view value;
};

// A histogram. The numbers are read during the call.
struct HistogramNumbers {
  absl::Span<const double> bounds;    // ascending upper bounds
  absl::Span<const uint64_t> counts;  // per bucket: one more than there are bounds
  double sum = 0;
};

// A summary. The numbers are read during the call.
struct SummaryNumbers {
  uint64_t count = 0;
  double sum = 0;
  absl::Span<const double> quantiles;
  absl::Span<const double> values;  // at these quantiles
};

class MetricSink {
 public:
  virtual ~MetricSink() = default;
  // `more`: labels besides those that identify the model version. A family without any reported
  // number is not on the page.
  virtual void Report(const MetricFamily& family, double value,
                      absl::Span<const MetricLabel> more) = 0;
  virtual void Report(const MetricFamily& family, const HistogramNumbers& numbers) = 0;
  virtual void Report(const MetricFamily& family, const SummaryNumbers& numbers) = 0;
  // For any type of number.
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  void Report(const MetricFamily& family, Number value) {
    Report(family, static_cast<double>(value), {});
  }
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_METRICS_METRIC_SINK_H_
