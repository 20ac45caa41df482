// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/metrics_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MetricsConfigTest, SwitchesAreTrueOrFalse) {
  MetricsConfig config;
  EXPECT_TRUE(config.Set("counter_latencies", "false").ok());
  EXPECT_TRUE(config.Set("summary_latencies", "true").ok());
  EXPECT_TRUE(config.Set("histogram_latencies", "true").ok());
  EXPECT_TRUE(config.Set("latency_histograms", "false").ok());
  EXPECT_FALSE(config.counter_latencies);
  EXPECT_TRUE(config.summary_latencies);
  EXPECT_TRUE(config.histogram_latencies);
  EXPECT_FALSE(config.latency_histograms);
  EXPECT_TRUE(config.Set("counter_latencies", "true").ok());
  EXPECT_TRUE(config.counter_latencies);
  EXPECT_EQ(config.Set("summary_latencies", "yes").message(),
            "metrics setting 'summary_latencies' expects 'true' or 'false', got 'yes'");
  EXPECT_TRUE(config.summary_latencies);
}

TEST(MetricsConfigTest, UnknownSettings) {
  MetricsConfig config;
  EXPECT_THAT(std::string(config.Set("gauge_latencies", "true").message()),
              HasSubstr("unknown metrics setting 'gauge_latencies'"));
}

TEST(MetricsConfigTest, QuantilesReplaceTheDefaults) {
  MetricsConfig config;
  EXPECT_THAT(config.summary_quantiles, ElementsAre(0.5, 0.9, 0.95, 0.99, 0.999));
  EXPECT_TRUE(config.Set("summary_quantiles", "0.1:0.0.1,0.7:0.01, 0.75:0.01").ok());
  EXPECT_THAT(config.summary_quantiles, ElementsAre(0.1, 0.7, 0.75));
}

TEST(MetricsConfigTest, PairsThatAreNoneAreLeftOut) {
  MetricsConfig config;
  EXPECT_TRUE(config.Set("summary_quantiles", "x:0.1,0.5,1.5:0.1,-1:0,nan:0,0.25:0.1,0.25:0").ok());
  EXPECT_THAT(config.summary_quantiles, ElementsAre(0.25));
  EXPECT_EQ(config.Set("summary_quantiles", "half").message(),
            "metrics setting 'summary_quantiles' expects <quantile>:<error>,..., got 'half'");
  EXPECT_THAT(config.summary_quantiles, ElementsAre(0.25));
}

}  // namespace
}  // namespace nereid
