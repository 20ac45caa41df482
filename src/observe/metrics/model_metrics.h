// ModelMetrics: the part of the metrics page that model versions report. Thread-compatible: one
// scrape makes one.
#ifndef NEREID_OBSERVE_METRICS_MODEL_METRICS_H_
#define NEREID_OBSERVE_METRICS_MODEL_METRICS_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "observe/metrics/metric_sink.h"

namespace nereid {

class ModelMetrics final : public MetricSink {
 public:
  // Reports from now on belong to this model version. REQUIRES: called before Report.
  void BeginVersion(absl::string_view model, int64_t version);
  using MetricSink::Report;
  void Report(const MetricFamily& family, double value,
              absl::Span<const MetricLabel> more) override;

  // All families, each with its samples in the order in which they were reported.
  std::string Text() const;

 private:
  struct Reported {
    const MetricFamily* family;
    std::string samples;
  };

  std::string model_;  // the label's value, escaped
  std::string version_;
  std::string labels_;  // of a sample without further labels
  std::vector<Reported> families_;
  std::map<absl::string_view, size_t> by_name_;  // indices into families_
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_METRICS_MODEL_METRICS_H_
