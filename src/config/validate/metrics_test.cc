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
                         "histogram_options { buckets: [ 1, 2 ] } } }"),
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

}  // namespace
}  // namespace nereid
