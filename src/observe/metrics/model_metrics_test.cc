// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/model_metrics.h"

#include <gtest/gtest.h>

#include <limits>

#include "observe/metrics/metric_text.h"

namespace nereid {
namespace {

constexpr MetricFamily kFirst = {"first", MetricKind::kCounter, "On top", MetricSection::kRequests};
constexpr MetricFamily kBatch = {"batch", MetricKind::kGauge, "Between", MetricSection::kBatching};
constexpr MetricFamily kOther = {"other", MetricKind::kGauge, "Of one model"};
constexpr MetricFamily kLast = {"last", MetricKind::kGauge, "Below"};

TEST(ModelMetricsTest, SamplesOfAFamilyStandTogether) {
  ModelMetrics page;
  page.BeginVersion("a", 1);
  page.Report(kOther, 1);
  page.Report(kFirst, uint64_t{2});
  page.BeginVersion("a", 2);
  page.Report(kFirst, 0.5);
  EXPECT_EQ(page.Text(), R"(# HELP first On top
# TYPE first counter
first{model="a",version="1"} 2
first{model="a",version="2"} 0.5
# HELP other Of one model
# TYPE other gauge
other{model="a",version="1"} 1
)");
}

TEST(ModelMetricsTest, TheSectionSaysWhereAFamilyStandsWhoeverReportsItFirst) {
  ModelMetrics page;
  page.BeginVersion("a", 1);
  page.Report(kOther, 1);
  page.Report(kLast, 1);
  page.BeginVersion("b", 1);
  page.Report(kFirst, 1);
  page.Report(kBatch, 1);
  const std::string text = page.Text();
  EXPECT_LT(text.find("# HELP first"), text.find("# HELP batch"));
  EXPECT_LT(text.find("# HELP batch"), text.find("# HELP other"));
  EXPECT_LT(text.find("# HELP other"), text.find("# HELP last"));
}

TEST(ModelMetricsTest, LabelsAreInTheOrderOfTheirNames) {
  ModelMetrics page;
  page.BeginVersion("a", 1);
  page.Report(kLast, 1, {{"reason", "R\"1\""}});
  page.Report(kLast, 2, {{"zone", "z"}, {"area", "b"}});
  EXPECT_EQ(page.Text(), R"(# HELP last Below
# TYPE last gauge
last{model="a",reason="R\"1\"",version="1"} 1
last{area="b",model="a",version="1",zone="z"} 2
)");
}

TEST(ModelMetricsTest, ModelNamesAreEscaped) {
  ModelMetrics page;
  page.BeginVersion("a\"b\\c\nd", 1);
  page.Report(kLast, 0);
  EXPECT_EQ(page.Text(), R"(# HELP last Below
# TYPE last gauge
last{model="a\"b\\c\nd",version="1"} 0
)");
}

TEST(ModelMetricsTest, NamespaceAndTagsAreLabels) {
  ModelMetrics page;
  page.BeginVersion("a", 1, "/models", {{"team", "blue\"1\""}, {"Zone", "z"}});
  page.Report(kLast, 2, {{"reason", "R"}});
  page.BeginVersion("b", 1);
  page.Report(kLast, 3);
  EXPECT_EQ(page.Text(), R"(# HELP last Below
# TYPE last gauge
last{_Zone="z",_team="blue\"1\"",model="a",namespace="/models",reason="R",version="1"} 2
last{model="b",version="1"} 3
)");
}

TEST(ModelMetricsTest, HistogramsAreCumulative) {
  static constexpr MetricFamily kTimes = {"times", MetricKind::kHistogram, "How long"};
  const double bounds[] = {0.0001, 0.25, 5};
  const uint64_t counts[] = {1, 0, 2, 3};
  ModelMetrics page;
  page.BeginVersion("a", 1);
  page.Report(kTimes, HistogramNumbers{bounds, counts, 40.5});
  EXPECT_EQ(page.Text(), R"(# HELP times How long
# TYPE times histogram
times_count{model="a",version="1"} 6
times_sum{model="a",version="1"} 40.5
times_bucket{model="a",version="1",le="0.0001"} 1
times_bucket{model="a",version="1",le="0.25"} 1
times_bucket{model="a",version="1",le="5"} 3
times_bucket{model="a",version="1",le="+Inf"} 6
)");
}

TEST(ModelMetricsTest, Summaries) {
  static constexpr MetricFamily kTimes = {"times", MetricKind::kSummary, "How long"};
  const double quantiles[] = {0.5, 1};
  const double values[] = {7, std::numeric_limits<double>::quiet_NaN()};
  ModelMetrics page;
  page.BeginVersion("a", 1);
  page.Report(kTimes, SummaryNumbers{3, 21, quantiles, values});
  EXPECT_EQ(page.Text(), R"(# HELP times How long
# TYPE times summary
times_count{model="a",version="1"} 3
times_sum{model="a",version="1"} 21
times{model="a",version="1",quantile="0.5"} 7
times{model="a",version="1",quantile="1"} NaN
)");
}

TEST(ModelMetricsTest, NothingReportedIsNoFamily) {
  ModelMetrics page;
  page.BeginVersion("a", 1);
  EXPECT_EQ(page.Text(), "");
}

TEST(EscapeLabelValueTest, EscapesWhatTheFormatAsksFor) {
  EXPECT_EQ(EscapeLabelValue("plain"), "plain");
  EXPECT_EQ(EscapeLabelValue("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
}

}  // namespace
}  // namespace nereid
