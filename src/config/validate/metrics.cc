// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "config/validate/checks.h"

namespace nereid {
namespace {

// Whether "_<tag>" may be the name of a label. Names that begin with two underscores are reserved.
bool IsTag(absl::string_view tag) {
  return !tag.empty() && tag[0] != '_' && std::all_of(tag.begin(), tag.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '_';
  });
}

void CheckTags(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  std::set<absl::string_view> bad;  // the map has no order
  for (const auto& [tag, value] : config.metric_tags()) {
    if (!IsTag(tag)) bad.insert(tag);
  }
  for (const absl::string_view tag : bad) {
    diagnostics->Add("metric_tags", absl::StrCat("metric tag '", tag, "' is no name for a label"),
                     "letters, digits and underscores, and no underscore at its beginning");
  }
}

// Equal bounds would be two samples of the same name; NaN is not a bound at all.
bool Ascend(const google::protobuf::RepeatedField<double>& bounds) {
  return bounds[0] == bounds[0] &&
         std::adjacent_find(bounds.begin(), bounds.end(),
                            [](double a, double b) { return !(a < b); }) == bounds.end();
}

}  // namespace

void CheckMetrics(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  CheckTags(config, diagnostics);
  const auto& controls = config.model_metrics().metric_control();
  for (int i = 0; i < controls.size(); ++i) {
    const std::string field = absl::StrCat("model_metrics.metric_control[", i, "]");
    if (!controls[i].has_metric_identifier()) {
      diagnostics->Add(absl::StrCat(field, ".metric_identifier"),
                       "metric control must specify 'metric_identifier'", "which metric");
    } else if (controls[i].metric_identifier().family().empty()) {
      diagnostics->Add(absl::StrCat(field, ".metric_identifier.family"),
                       "metric identifier must specify non-empty 'family'",
                       "the name of a metric family");
    }
    if (!controls[i].has_histogram_options()) {
      diagnostics->Add(absl::StrCat(field, ".histogram_options"),
                       "metric control must specify 'histogram_options'", "the buckets");
    } else if (controls[i].histogram_options().buckets().empty()) {
      diagnostics->Add(absl::StrCat(field, ".histogram_options.buckets"),
                       "histogram options must specify non-empty 'buckets'",
                       "the upper bounds of the buckets, ascending");
    } else if (!Ascend(controls[i].histogram_options().buckets())) {
      diagnostics->Add(absl::StrCat(field, ".histogram_options.buckets"),
                       "histogram options must specify ascending 'buckets'",
                       "the upper bounds of the buckets, ascending");
    }
  }
}

}  // namespace nereid
