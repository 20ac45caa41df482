// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"
#include "config/validate/checks.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CheckMetricsTest, AcceptsGoodOnesAndNone) {
  EXPECT_THAT(ProblemsOf(CheckMetrics, "name: 'm'"), IsEmpty());
  EXPECT_THAT(ProblemsOf(CheckMetrics,
                         "model_metrics { metric_control { metric_identifier { family: 'f' } "
                         "histogram_options { buckets: [ 1, 2 ] } } } "
                         "metric_tags { key: 'Team_1' value: 'any \"text\"' }"),
              IsEmpty());
}

TEST(CheckMetricsTest, ReportsWhatIsMissing) {
  EXPECT_THAT(ProblemsOf(CheckMetrics,
                         "model_metrics { metric_control { } metric_control { "
                         "metric_identifier { } histogram_options { } } }"),
              ElementsAre("model_metrics.metric_control[0].metric_identifier: metric control must "
                          "specify 'metric_identifier'",
                          "model_metrics.metric_control[0].histogram_options: metric control must "
                          "specify 'histogram_options'",
                          "model_metrics.metric_control[1].metric_identifier.family: metric "
                          "identifier must specify non-empty 'family'",
                          "model_metrics.metric_control[1].histogram_options.buckets: histogram "
                          "options must specify non-empty 'buckets'"));
}

TEST(CheckMetricsTest, BucketsAscend) {
  for (const char* buckets : {"2, 1", "1, 1", "nan", "1, nan"}) {
    EXPECT_THAT(
        ProblemsOf(CheckMetrics,
                   absl::StrCat("model_metrics { metric_control { metric_identifier { family: 'f' "
                                "} histogram_options { buckets: [ ",
                                buckets, " ] } } }")),
        ElementsAre("model_metrics.metric_control[0].histogram_options.buckets: histogram options "
                    "must specify ascending 'buckets'"));
  }
}

TEST(CheckMetricsTest, TagsBecomeLabels) {
  EXPECT_THAT(ProblemsOf(CheckMetrics,
                         "metric_tags { key: 'my-team' value: 'a' } metric_tags { key: '_x' } "
                         "metric_tags { key: '' }"),
              ElementsAre("metric_tags: metric tag '' is no name for a label",
                          "metric_tags: metric tag '_x' is no name for a label",
                          "metric_tags: metric tag 'my-team' is no name for a label"));
}

}  // namespace
}  // namespace nereid
