// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/model_metrics.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "observe/metrics/metric_text.h"

namespace nereid {
namespace {

// The labels in the order of their names, as Triton writes them.
std::string SortedLabels(std::vector<std::pair<std::string, std::string>> labels) {
  std::sort(labels.begin(), labels.end());
  std::string text;
  for (const auto& [name, escaped] : labels) {
    absl::StrAppend(&text, text.empty() ? "" : ",", name, "=\"", escaped, "\"");
  }
  return text;
}

}  // namespace

void ModelMetrics::BeginVersion(absl::string_view model, int64_t version, absl::string_view space,
                                const Tags& tags, absl::string_view gpu) {
  version_labels_ = {{"model", EscapeLabelValue(model)}, {"version", absl::StrCat(version)}};
  if (!space.empty()) version_labels_.emplace_back("namespace", EscapeLabelValue(space));
  if (!gpu.empty()) version_labels_.emplace_back("gpu_uuid", EscapeLabelValue(gpu));
  for (const auto& [tag, value] : tags) {
    version_labels_.emplace_back("_" + tag, EscapeLabelValue(value));
  }
  labels_ = SortedLabels(version_labels_);
}

std::string* ModelMetrics::SamplesOf(const MetricFamily& family) {
  const auto [it, is_new] = by_name_.emplace(family.name, families_.size());
  if (is_new) families_.push_back({&family, ""});
  return &families_[it->second].samples;
}

void ModelMetrics::Report(const MetricFamily& family, double value,
                          absl::Span<const MetricLabel> more) {
  std::string* const samples = SamplesOf(family);
  if (more.empty()) {
    AppendMetricSample(family.name, labels_, value, samples);
    return;
  }
  Labels labels = version_labels_;
  for (const MetricLabel& label : more) {
    labels.emplace_back(std::string(label.name), EscapeLabelValue(label.value));
  }
  AppendMetricSample(family.name, SortedLabels(std::move(labels)), value, samples);
}

void ModelMetrics::Report(const MetricFamily& family, const HistogramNumbers& numbers) {
  AppendHistogramSamples(family.name, labels_, numbers, SamplesOf(family));
}

void ModelMetrics::Report(const MetricFamily& family, const SummaryNumbers& numbers) {
  AppendSummarySamples(family.name, labels_, numbers, SamplesOf(family));
}

std::string ModelMetrics::Text() const {
  std::vector<const Reported*> sorted;
  sorted.reserve(families_.size());
  for (const Reported& reported : families_) sorted.push_back(&reported);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Reported* a, const Reported* b) {
    return a->family->section < b->family->section;
  });
  std::string text;
  for (const Reported* reported : sorted) {
    AppendMetricHeader(reported->family->name, reported->family->kind, reported->family->help,
                       &text);
    text += reported->samples;
  }
  return text;
}

}  // namespace nereid
