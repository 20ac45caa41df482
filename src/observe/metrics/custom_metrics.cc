// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/custom_metrics.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>

#include "observe/metrics/metric_text.h"

namespace nereid {
namespace {

const char* KindName(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "COUNTER";
    case MetricKind::kGauge:
      return "GAUGE";
    case MetricKind::kHistogram:
      return "HISTOGRAM";
    case MetricKind::kSummary:
      return "SUMMARY";
  }
  return "UNKNOWN";
}

// Letters, digits, underscores and `more`, not beginning with a digit.
bool IsName(absl::string_view text, absl::string_view more) {
  return !text.empty() && !absl::ascii_isdigit(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return absl::ascii_isalnum(c) || c == '_' || more.find(c) != absl::string_view::npos;
         });
}

absl::StatusOr<std::string> LabelText(const MetricLabels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    if (!IsName(name, "") || absl::StartsWith(name, "__")) {
      return absl::InvalidArgumentError(absl::StrCat("'", name, "' is no name for a metric label"));
    }
    absl::StrAppend(&text, text.empty() ? "" : ",", name, "=\"", EscapeLabelValue(value), "\"");
  }
  return text;
}

// A help text goes on one line.
std::string EscapeHelp(absl::string_view help) {
  std::string escaped;
  for (const char c : help) {
    if (c == '\n') {
      escaped += "\\n";
    } else {
      if (c == '\\') escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

CustomMetric::CustomMetric(MetricKind kind, std::vector<double> buckets)
    : kind_(kind), buckets_(std::move(buckets)), counts_(buckets_.size() + 1) {}

absl::Status CustomMetric::Unsupported(const char* operation) const {
  return absl::UnimplementedError(
      absl::StrCat("TRITONSERVER_METRIC_KIND_", KindName(kind_), " does not support ", operation));
}

absl::StatusOr<double> CustomMetric::Value() const {
  if (kind_ == MetricKind::kHistogram) return Unsupported("Value");
  MutexLock lock(&mu_);
  return value_;
}

absl::Status CustomMetric::Increment(double value) {
  if (kind_ == MetricKind::kHistogram) return Unsupported("Increment");
  if (kind_ == MetricKind::kCounter && !(value >= 0)) {
    return absl::InvalidArgumentError(
        "TRITONSERVER_METRIC_KIND_COUNTER can only be incremented monotonically by non-negative "
        "values.");
  }
  MutexLock lock(&mu_);
  value_ += value;
  return absl::OkStatus();
}

absl::Status CustomMetric::Set(double value) {
  if (kind_ != MetricKind::kGauge) return Unsupported("Set");
  MutexLock lock(&mu_);
  value_ = value;
  return absl::OkStatus();
}

absl::Status CustomMetric::Observe(double value) {
  if (kind_ != MetricKind::kHistogram) return Unsupported("Observe");
  const auto bucket = std::lower_bound(buckets_.begin(), buckets_.end(), value);
  MutexLock lock(&mu_);
  value_ += value;
  ++counts_[static_cast<size_t>(bucket - buckets_.begin())];
  return absl::OkStatus();
}

void CustomMetric::AppendTo(const std::string& name, const std::string& labels,
                            std::string* out) const {
  MutexLock lock(&mu_);
  if (kind_ != MetricKind::kHistogram) return AppendMetricSample(name, labels, value_, out);
  AppendHistogramSamples(name, labels, {buckets_, counts_, value_}, out);
}

absl::StatusOr<std::shared_ptr<CustomMetric>> CustomFamily::Metric(const MetricLabels& labels,
                                                                   std::vector<double> buckets) {
  const absl::StatusOr<std::string> text = LabelText(labels);
  if (!text.ok()) return text.status();
  // Equal bounds would be two samples of the same name; NaN is not a bound at all.
  const auto ascends = [](double a, double b) { return !(a < b); };
  if (std::adjacent_find(buckets.begin(), buckets.end(), ascends) != buckets.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the bucket bounds of metric '", name_, "' do not ascend"));
  }
  MutexLock lock(&mu_);
  Entry& entry = metrics_[*text];
  std::shared_ptr<CustomMetric> metric = entry.metric.lock();
  if (metric == nullptr) {
    metric = std::make_shared<CustomMetric>(kind_, std::move(buckets));
    entry = {labels, metric};
  }
  return metric;
}

std::vector<CustomValue> CustomFamily::Values() {
  std::vector<CustomValue> values;
  MutexLock lock(&mu_);
  for (const auto& [text, entry] : metrics_) {
    const std::shared_ptr<CustomMetric> metric = entry.metric.lock();
    if (metric == nullptr) continue;
    const absl::StatusOr<double> value = metric->Value();
    if (value.ok()) values.push_back({entry.labels, *value});
  }
  return values;
}

void CustomFamily::AppendTo(std::string* out) {
  std::string samples;
  {
    MutexLock lock(&mu_);
    for (auto it = metrics_.begin(); it != metrics_.end();) {
      if (const std::shared_ptr<CustomMetric> metric = it->second.metric.lock()) {
        metric->AppendTo(name_, it->first, &samples);
        ++it;
      } else {
        it = metrics_.erase(it);
      }
    }
  }
  if (samples.empty()) return;
  AppendMetricHeader(name_, kind_, EscapeHelp(help_), out);
  *out += samples;
}

CustomMetrics* CustomMetrics::Global() {
  // Never destroyed: metrics may be deleted while the process ends.
  static CustomMetrics* const global = new CustomMetrics;
  return global;
}

absl::StatusOr<std::shared_ptr<CustomFamily>> CustomMetrics::Family(MetricKind kind,
                                                                    const std::string& name,
                                                                    const std::string& help) {
  if (!IsName(name, ":")) {
    return absl::InvalidArgumentError(absl::StrCat("'", name, "' is no name for a metric family"));
  }
  MutexLock lock(&mu_);
  std::weak_ptr<CustomFamily>& entry = families_[name];
  std::shared_ptr<CustomFamily> family = entry.lock();
  if (family == nullptr) {
    family = std::make_shared<CustomFamily>(kind, name, help);
    entry = family;
  } else if (family->kind() != kind) {
    return absl::InvalidArgumentError("Family name already exists with different type");
  }
  return family;
}

std::string CustomMetrics::Text() {
  std::vector<std::shared_ptr<CustomFamily>> families;
  {
    MutexLock lock(&mu_);
    for (auto it = families_.begin(); it != families_.end();) {
      if (std::shared_ptr<CustomFamily> family = it->second.lock()) {
        families.push_back(std::move(family));
        ++it;
      } else {
        it = families_.erase(it);
      }
    }
  }
  std::string text;
  for (const std::shared_ptr<CustomFamily>& family : families) family->AppendTo(&text);
  return text;
}

std::vector<CustomValue> CustomMetrics::Values(const std::string& family) {
  std::shared_ptr<CustomFamily> found;
  {
    MutexLock lock(&mu_);
    const auto it = families_.find(family);
    if (it != families_.end()) found = it->second.lock();
  }
  return found == nullptr ? std::vector<CustomValue>() : found->Values();
}

}  // namespace nereid
