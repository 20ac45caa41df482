// SPDX-License-Identifier: Apache-2.0
// Metric families that programs create through the C API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/capi/harness.h"

namespace nereid_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Family {
 public:
  Family(TRITONSERVER_MetricKind kind, const char* name) {
    EXPECT_TRUE(Ok(TRITONSERVER_MetricFamilyNew(&family_, kind, name, "what it is")));
  }
  ~Family() { EXPECT_TRUE(Ok(TRITONSERVER_MetricFamilyDelete(family_))); }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  TRITONSERVER_MetricFamily* get() const { return family_; }

 private:
  TRITONSERVER_MetricFamily* family_ = nullptr;
};

class Metric {
 public:
  explicit Metric(const Family& family, const TRITONSERVER_MetricArgs* args = nullptr) {
    TRITONSERVER_Parameter* const label =
        TRITONSERVER_ParameterNew("where", TRITONSERVER_PARAMETER_STRING, "here");
    const TRITONSERVER_Parameter* labels[] = {label};
    EXPECT_TRUE(Ok(args == nullptr
                       ? TRITONSERVER_MetricNew(&metric_, family.get(), labels, 1)
                       : TRITONSERVER_MetricNewWithArgs(&metric_, family.get(), labels, 1, args)));
    TRITONSERVER_ParameterDelete(label);
  }
  ~Metric() { EXPECT_TRUE(Ok(TRITONSERVER_MetricDelete(metric_))); }
  Metric(const Metric&) = delete;
  Metric& operator=(const Metric&) = delete;
  TRITONSERVER_Metric* get() const { return metric_; }
  double value() const {
    double value = -1;
    EXPECT_TRUE(Ok(TRITONSERVER_MetricValue(metric_, &value)));
    return value;
  }

 private:
  TRITONSERVER_Metric* metric_ = nullptr;
};

TEST(CustomMetrics, CounterGaugeAndHistogramOnTheMetricsPage) {
  Repository repository;
  TestServer server(repository);
  const Family counters(TRITONSERVER_METRIC_KIND_COUNTER, "my_counter");
  const Family gauges(TRITONSERVER_METRIC_KIND_GAUGE, "my_gauge");
  const Family histograms(TRITONSERVER_METRIC_KIND_HISTOGRAM, "my_histogram");
  TRITONSERVER_MetricKind kind = TRITONSERVER_METRIC_KIND_COUNTER;
  ASSERT_TRUE(Ok(TRITONSERVER_GetMetricFamilyKind(histograms.get(), &kind)));
  EXPECT_EQ(kind, TRITONSERVER_METRIC_KIND_HISTOGRAM);

  TRITONSERVER_MetricArgs* args = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_MetricArgsNew(&args)));
  const double bounds[] = {1, 10};
  ASSERT_TRUE(Ok(TRITONSERVER_MetricArgsSetHistogram(args, bounds, 2)));
  const Metric counter(counters), gauge(gauges), same_gauge(gauges), histogram(histograms, args);
  TRITONSERVER_Metric* none = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_MetricNewWithArgs(&none, gauges.get(), nullptr, 0, args),
                    TRITONSERVER_ERROR_INVALID_ARG,
                    "Unexpected args found in gauge Metric constructor."));
  EXPECT_TRUE(Fails(TRITONSERVER_MetricNewWithArgs(&none, counters.get(), nullptr, 0, args),
                    TRITONSERVER_ERROR_INVALID_ARG,
                    "Unexpected args found in counter Metric constructor."));
  ASSERT_TRUE(Ok(TRITONSERVER_MetricArgsDelete(args)));

  ASSERT_TRUE(Ok(TRITONSERVER_MetricIncrement(counter.get(), 2)));
  ASSERT_TRUE(Ok(TRITONSERVER_MetricSet(gauge.get(), 0.5)));
  ASSERT_TRUE(Ok(TRITONSERVER_MetricObserve(histogram.get(), 5)));
  EXPECT_EQ(counter.value(), 2);
  EXPECT_EQ(same_gauge.value(), 0.5);
  ASSERT_TRUE(Ok(TRITONSERVER_GetMetricKind(gauge.get(), &kind)));
  EXPECT_EQ(kind, TRITONSERVER_METRIC_KIND_GAUGE);
  EXPECT_TRUE(Fails(TRITONSERVER_MetricSet(counter.get(), 1), TRITONSERVER_ERROR_UNSUPPORTED,
                    "TRITONSERVER_METRIC_KIND_COUNTER does not support Set"));
  EXPECT_TRUE(Fails(TRITONSERVER_MetricFamilyDelete(gauges.get()), TRITONSERVER_ERROR_INTERNAL,
                    "Must call MetricDelete on all dependent metrics before calling "
                    "MetricFamilyDelete."));

  TRITONSERVER_Metrics* metrics = nullptr;
  const char* base = nullptr;
  size_t size = 0;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerMetrics(server.get(), &metrics)));
  ASSERT_TRUE(
      Ok(TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &base, &size)));
  EXPECT_THAT(std::string(base, size),
              HasSubstr("# HELP my_counter what it is\n# TYPE my_counter counter\n"
                        "my_counter{where=\"here\"} 2\n"
                        "# HELP my_gauge what it is\n# TYPE my_gauge gauge\n"
                        "my_gauge{where=\"here\"} 0.5\n"
                        "# HELP my_histogram what it is\n# TYPE my_histogram histogram\n"
                        "my_histogram_count{where=\"here\"} 1\n"
                        "my_histogram_sum{where=\"here\"} 5\n"
                        "my_histogram_bucket{where=\"here\",le=\"1\"} 0\n"
                        "my_histogram_bucket{where=\"here\",le=\"10\"} 1\n"
                        "my_histogram_bucket{where=\"here\",le=\"+Inf\"} 1\n"));
  ASSERT_TRUE(Ok(TRITONSERVER_MetricsDelete(metrics)));
}

TEST(CustomMetrics, WhatIsWrong) {
  TRITONSERVER_MetricFamily* family = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_MetricFamilyNew(&family, static_cast<TRITONSERVER_MetricKind>(3),
                                                 "my_name", "help"),
                    TRITONSERVER_ERROR_INVALID_ARG,
                    "Unsupported kind passed to MetricFamily constructor."));
  EXPECT_TRUE(Fails(
      TRITONSERVER_MetricFamilyNew(&family, TRITONSERVER_METRIC_KIND_GAUGE, "no name", "help"),
      TRITONSERVER_ERROR_INVALID_ARG, "'no name' is no name for a metric family"));

  const Family histograms(TRITONSERVER_METRIC_KIND_HISTOGRAM, "other_histogram");
  const Family gauges(TRITONSERVER_METRIC_KIND_GAUGE, "other_gauge");
  TRITONSERVER_Metric* metric = nullptr;
  TRITONSERVER_MetricArgs* args = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_MetricNew(&metric, histograms.get(), nullptr, 0),
                    TRITONSERVER_ERROR_INVALID_ARG, "Bucket boundaries not found in Metric args."));
  ASSERT_TRUE(Ok(TRITONSERVER_MetricArgsNew(&args)));
  EXPECT_TRUE(Fails(TRITONSERVER_MetricNewWithArgs(&metric, histograms.get(), nullptr, 0, args),
                    TRITONSERVER_ERROR_INVALID_ARG, "Metric args not set to histogram kind."));
  ASSERT_TRUE(Ok(TRITONSERVER_MetricArgsDelete(args)));
  const int64_t number = 1;
  TRITONSERVER_Parameter* const label =
      TRITONSERVER_ParameterNew("n", TRITONSERVER_PARAMETER_INT, &number);
  const TRITONSERVER_Parameter* labels[] = {label};
  EXPECT_TRUE(Fails(TRITONSERVER_MetricNew(&metric, gauges.get(), labels, 1),
                    TRITONSERVER_ERROR_INVALID_ARG,
                    "Parameter [n] must have a type of TRITONSERVER_PARAMETER_STRING to be added "
                    "as a label."));
  TRITONSERVER_ParameterDelete(label);
}

}  // namespace
}  // namespace nereid_test
