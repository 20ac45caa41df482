#include <absl/strings/str_cat.h>

#include "config/validate/checks.h"

namespace nereid {

void CheckMetrics(const inference::ModelConfig& config, Diagnostics* diagnostics) {
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
    }
  }
}

}  // namespace nereid
