// SPDX-License-Identifier: Apache-2.0
// ModelMetrics: the part of the metrics page that model versions report. Thread-compatible: one
// scrape makes one.
#ifndef NEREID_OBSERVE_METRICS_MODEL_METRICS_H_
#define NEREID_OBSERVE_METRICS_MODEL_METRICS_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "observe/metrics/metric_sink.h"

namespace nereid {

class ModelMetrics final : public MetricSink {
 public:
  // Reports from now on belong to this model version. `space`: its namespace, or empty. `tags`
  // become labels with an underscore before their name. `gpu`: the UUID of the GPU on which all of
  // it runs, or empty. REQUIRES: called before Report.
  using Tags = std::map<std::string, std::string>;
  void BeginVersion(absl::string_view model, int64_t version, absl::string_view space = "",
                    const Tags& tags = {}, absl::string_view gpu = "");
  using MetricSink::Report;
  void Report(const MetricFamily& family, double value,
              absl::Span<const MetricLabel> more) override;
  void Report(const MetricFamily& family, const HistogramNumbers& numbers) override;
  void Report(const MetricFamily& family, const SummaryNumbers& numbers) override;

  // All families, each with its samples in the order in which they were reported.
  std::string Text() const;

 private:
  struct Reported {
    const MetricFamily* family;
    std::string samples;
  };

  // The samples of a family, to which more are appended.
  std::string* SamplesOf(const MetricFamily& family);

  using Labels = std::vector<std::pair<std::string, std::string>>;
  Labels version_labels_;  // name and escaped value
  std::string labels_;     // the same as text
  std::vector<Reported> families_;
  std::map<absl::string_view, size_t> by_name_;  // indices into families_
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_METRICS_MODEL_METRICS_H_
