// MetricSink: where models report what the metrics page shows of them. MetricFamily: what a number
// is called there, which stands beside the code that makes the number.
#ifndef NEREID_OBSERVE_METRICS_METRIC_SINK_H_
#define NEREID_OBSERVE_METRICS_METRIC_SINK_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include "observe/metrics/metric_kind.h"

namespace nereid {

// The parts of the page, from its top. Within one, families are in the order in which they were
// first reported.
enum class MetricSection { kRequests, kExecutions, kVersion, kCache, kBatching, kEnsemble, kMore };

// Constant, and there as long as the program runs: sinks keep pointers.
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

class MetricSink {
 public:
  virtual ~MetricSink() = default;
  // `more`: labels besides those that say which model version it is. A family of which nothing is
  // reported is not on the page.
  virtual void Report(const MetricFamily& family, double value,
                      absl::Span<const MetricLabel> more) = 0;
  // Of any type of number.
  template <typename Number>
  void Report(const MetricFamily& family, Number value) {
    Report(family, static_cast<double>(value), {});
  }
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_METRICS_METRIC_SINK_H_
