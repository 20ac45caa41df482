#include "observe/metrics/model_metrics.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "observe/metrics/metric_text.h"

namespace nereid {
namespace {

// The labels in the order of their names, as the original writes them.
std::string SortedLabels(std::vector<std::pair<absl::string_view, absl::string_view>> labels) {
  std::sort(labels.begin(), labels.end());
  std::string text;
  for (const auto& [name, escaped] : labels) {
    absl::StrAppend(&text, text.empty() ? "" : ",", name, "=\"", escaped, "\"");
  }
  return text;
}

}  // namespace

void ModelMetrics::BeginVersion(absl::string_view model, int64_t version) {
  model_ = EscapeLabelValue(model);
  version_ = absl::StrCat(version);
  labels_ = SortedLabels({{"model", model_}, {"version", version_}});
}

void ModelMetrics::Report(const MetricFamily& family, double value,
                          absl::Span<const MetricLabel> more) {
  const auto [it, is_new] = by_name_.emplace(family.name, families_.size());
  if (is_new) families_.push_back({&family, ""});
  std::string* const samples = &families_[it->second].samples;
  if (more.empty()) {
    AppendMetricSample(family.name, labels_, value, samples);
    return;
  }
  std::vector<std::string> escaped;
  escaped.reserve(more.size());
  std::vector<std::pair<absl::string_view, absl::string_view>> labels = {{"model", model_},
                                                                         {"version", version_}};
  for (const MetricLabel& label : more) {
    labels.emplace_back(label.name, escaped.emplace_back(EscapeLabelValue(label.value)));
  }
  AppendMetricSample(family.name, SortedLabels(std::move(labels)), value, samples);
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
