// SPDX-License-Identifier: Apache-2.0
// CustomMetrics: metric families that backends, caches and embedding programs create through the C
// API, shown after those of the server. Thread-safe.
//
// The creator of a family or a metric holds a reference. A later request for the same family or
// metric returns a reference to the existing one, which disappears with its last reference.
#ifndef NEREID_OBSERVE_METRICS_CUSTOM_METRICS_H_
#define NEREID_OBSERVE_METRICS_CUSTOM_METRICS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/export.h"
#include "base/mutex.h"
#include "observe/metrics/metric_kind.h"

namespace nereid {

// By label name.
using MetricLabels = std::map<std::string, std::string>;

// One metric's value.
struct CustomValue {
  MetricLabels labels;
  double value = 0;
};

// One metric of a family. UNIMPLEMENTED for operations that its kind does not support.
class NEREID_API CustomMetric {
 public:
  // `buckets`: upper bounds, for a histogram.
  CustomMetric(MetricKind kind, std::vector<double> buckets);

  MetricKind kind() const { return kind_; }
  absl::StatusOr<double> Value() const ABSL_LOCKS_EXCLUDED(mu_);
  // INVALID_ARGUMENT for a counter and a negative value.
  absl::Status Increment(double value) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Set(double value) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Observe(double value) ABSL_LOCKS_EXCLUDED(mu_);

  // Appends its samples, under the family's `name` and with its labels.
  void AppendTo(const std::string& name, const std::string& labels, std::string* out) const
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::Status Unsupported(const char* operation) const;

  const MetricKind kind_;
  const std::vector<double> buckets_;
  mutable Mutex mu_;
  double value_ ABSL_GUARDED_BY(mu_) = 0;              // of a histogram: the sum
  std::vector<uint64_t> counts_ ABSL_GUARDED_BY(mu_);  // per bucket; the last has no upper bound
};

class NEREID_API CustomFamily {
 public:
  CustomFamily(MetricKind kind, std::string name, std::string help)
      : kind_(kind), name_(std::move(name)), help_(std::move(help)) {}

  MetricKind kind() const { return kind_; }
  // The metric with these labels, created if there is none. INVALID_ARGUMENT for a bad label name,
  // or for buckets that do not ascend; the buckets of an existing metric stay as they are.
  absl::StatusOr<std::shared_ptr<CustomMetric>> Metric(const MetricLabels& labels,
                                                       std::vector<double> buckets)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Appends nothing for a family without metrics.
  void AppendTo(std::string* out) ABSL_LOCKS_EXCLUDED(mu_);
  // None for a histogram.
  std::vector<CustomValue> Values() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    MetricLabels labels;
    std::weak_ptr<CustomMetric> metric;
  };

  const MetricKind kind_;
  const std::string name_;
  const std::string help_;
  Mutex mu_;
  // Key: the labels as written in the output.
  std::map<std::string, Entry> metrics_ ABSL_GUARDED_BY(mu_);
};

class NEREID_API CustomMetrics {
 public:
  // The one instance of the process: in the C API families do not belong to a server.
  static CustomMetrics* Global();

  // The family with that name, created if there is none. INVALID_ARGUMENT for a bad name, or if a
  // family of another kind or with another help text has that name.
  absl::StatusOr<std::shared_ptr<CustomFamily>> Family(MetricKind kind, const std::string& name,
                                                       const std::string& help)
      ABSL_LOCKS_EXCLUDED(mu_);
  // All families in the Prometheus text format, ordered by name.
  std::string Text() ABSL_LOCKS_EXCLUDED(mu_);
  // The metrics of one family; none if there is no such family.
  std::vector<CustomValue> Values(const std::string& family) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Mutex mu_;
  std::map<std::string, std::weak_ptr<CustomFamily>> families_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_METRICS_CUSTOM_METRICS_H_
