// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/custom_metrics.h"

#include <gtest/gtest.h>

#include <thread>

namespace nereid {
namespace {

std::shared_ptr<CustomMetric> Make(const std::shared_ptr<CustomFamily>& family,
                                   const MetricLabels& labels = {},
                                   std::vector<double> buckets = {}) {
  const auto metric = family->Metric(labels, std::move(buckets));
  EXPECT_TRUE(metric.ok()) << metric.status();
  return *metric;
}

TEST(CustomMetricsTest, TextOfEveryKind) {
  CustomMetrics metrics;
  const auto gauge = *metrics.Family(MetricKind::kGauge, "b_gauge", "What\\it is\nin two lines");
  const auto counter = *metrics.Family(MetricKind::kCounter, "a:counter", "Counts");
  const auto histogram = *metrics.Family(MetricKind::kHistogram, "c", "Spreads");
  const auto empty = *metrics.Family(MetricKind::kGauge, "d", "Has no metric");
  const auto one = Make(gauge, {{"z", "1"}, {"a", "say \"x\""}});
  const auto two = Make(gauge);
  const auto count = Make(counter);
  const auto spread = Make(histogram, {{"l", "v"}}, {1, 2.5});
  ASSERT_TRUE(one->Set(0.5).ok());
  ASSERT_TRUE(two->Increment(-3).ok());
  ASSERT_TRUE(count->Increment(1e9).ok());
  for (const double value : {0.5, 1.0, 2.0, 9.0}) ASSERT_TRUE(spread->Observe(value).ok());
  EXPECT_EQ(metrics.Text(), R"(# HELP a:counter Counts
# TYPE a:counter counter
a:counter 1000000000
# HELP b_gauge What\\it is\nin two lines
# TYPE b_gauge gauge
b_gauge -3
b_gauge{a="say \"x\"",z="1"} 0.5
# HELP c Spreads
# TYPE c histogram
c_count{l="v"} 4
c_sum{l="v"} 12.5
c_bucket{l="v",le="1"} 2
c_bucket{l="v",le="2.5"} 3
c_bucket{l="v",le="+Inf"} 4
)");
}

TEST(CustomMetricsTest, WhatAKindDoesNotSupport) {
  CustomMetric counter(MetricKind::kCounter, {});
  CustomMetric gauge(MetricKind::kGauge, {});
  CustomMetric histogram(MetricKind::kHistogram, {1});
  EXPECT_EQ(counter.Set(1),
            absl::UnimplementedError("TRITONSERVER_METRIC_KIND_COUNTER does not support Set"));
  EXPECT_EQ(counter.Observe(1),
            absl::UnimplementedError("TRITONSERVER_METRIC_KIND_COUNTER does not support Observe"));
  EXPECT_EQ(counter.Increment(-1),
            absl::InvalidArgumentError("TRITONSERVER_METRIC_KIND_COUNTER can only be incremented "
                                       "monotonically by non-negative values."));
  EXPECT_EQ(gauge.Observe(1),
            absl::UnimplementedError("TRITONSERVER_METRIC_KIND_GAUGE does not support Observe"));
  EXPECT_EQ(histogram.Value().status(),
            absl::UnimplementedError("TRITONSERVER_METRIC_KIND_HISTOGRAM does not support Value"));
  EXPECT_EQ(
      histogram.Increment(1),
      absl::UnimplementedError("TRITONSERVER_METRIC_KIND_HISTOGRAM does not support Increment"));
  EXPECT_EQ(histogram.Set(1),
            absl::UnimplementedError("TRITONSERVER_METRIC_KIND_HISTOGRAM does not support Set"));
  EXPECT_EQ(*counter.Value(), 0);
}

TEST(CustomMetricsTest, SameNameIsTheSameFamilyAndSameLabelsTheSameMetric) {
  CustomMetrics metrics;
  auto first = *metrics.Family(MetricKind::kGauge, "g", "help");
  EXPECT_EQ(*metrics.Family(MetricKind::kGauge, "g", "help"), first);
  auto metric = Make(first, {{"a", "1"}});
  EXPECT_EQ(Make(first, {{"a", "1"}}), metric);
  EXPECT_NE(Make(first, {{"a", "2"}}), metric);
  EXPECT_EQ(*metrics.Family(MetricKind::kGauge, "g", "other"), first) << "the first help stays";
  const auto clash = metrics.Family(MetricKind::kCounter, "g", "help");
  EXPECT_EQ(clash.status().code(), absl::StatusCode::kInvalidArgument);
  metric.reset();
  EXPECT_EQ(metrics.Text(), "") << "the last holder of the metric is gone";
  first.reset();
  EXPECT_TRUE(metrics.Family(MetricKind::kCounter, "g", "help").ok()) << "the family is gone, too";
}

TEST(CustomMetricsTest, BadNamesAndBounds) {
  CustomMetrics metrics;
  for (const char* name : {"", "1a", "a-b", "a b", "ä"}) {
    EXPECT_FALSE(metrics.Family(MetricKind::kGauge, name, "").ok()) << name;
  }
  const auto family = *metrics.Family(MetricKind::kHistogram, "h", "");
  for (const char* label : {"", "1", "a:b", "__a"}) {
    EXPECT_FALSE(family->Metric({{label, ""}}, {}).ok()) << label;
  }
  EXPECT_FALSE(family->Metric({}, {2, 1}).ok());
  EXPECT_FALSE(family->Metric({}, {1, 1}).ok());
  EXPECT_TRUE(family->Metric({}, {1, 2}).ok());
}

TEST(CustomMetricsTest, ManyThreads) {
  CustomMetrics metrics;
  const auto family = *metrics.Family(MetricKind::kCounter, "c", "");
  const auto keep = Make(family);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        const auto metric = (*metrics.Family(MetricKind::kCounter, "c", ""))->Metric({}, {});
        EXPECT_TRUE((*metric)->Increment(1).ok());
        if (i % 100 == 0) {
          EXPECT_FALSE(metrics.Text().empty());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*keep->Value(), 4000);
}

TEST(CustomMetricsTest, ValuesOfAFamily) {
  CustomMetrics metrics;
  EXPECT_TRUE(metrics.Values("g").empty());
  auto gauge = *metrics.Family(MetricKind::kGauge, "g", "");
  const auto one = Make(gauge, {{"a", "1"}, {"b", "2"}});
  auto gone = Make(gauge, {{"a", "2"}});
  ASSERT_TRUE(one->Set(0.5).ok());
  gone.reset();
  const std::vector<CustomValue> values = metrics.Values("g");
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0].labels, (MetricLabels{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(values[0].value, 0.5);
  const auto histogram = *metrics.Family(MetricKind::kHistogram, "h", "");
  const auto spread = Make(histogram, {}, {1});
  EXPECT_TRUE(metrics.Values("h").empty());
  gauge.reset();
  EXPECT_TRUE(metrics.Values("g").empty());
}

}  // namespace
}  // namespace nereid
