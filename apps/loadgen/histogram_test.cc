// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nereid::bench {
namespace {

TEST(HistogramTest, IsEmptyAtFirst) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.Percentile(0.5), 0);
  EXPECT_EQ(histogram.mean(), 0);
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (int i = 1; i <= 100; ++i) histogram.Add(i);
  EXPECT_EQ(histogram.Percentile(0.5), 50);
  EXPECT_EQ(histogram.Percentile(0.99), 99);
  EXPECT_EQ(histogram.Percentile(1), 100);
  EXPECT_EQ(histogram.Percentile(0), 1);
  EXPECT_DOUBLE_EQ(histogram.mean(), 50.5);
}

TEST(HistogramTest, TheMeanOfTheSmallestValues) {
  Histogram histogram;
  EXPECT_EQ(histogram.MeanOfSmallest(0.5), 0);
  for (int i = 1; i <= 100; ++i) histogram.Add(i);
  EXPECT_DOUBLE_EQ(histogram.MeanOfSmallest(0.5), 25.5);
  EXPECT_DOUBLE_EQ(histogram.MeanOfSmallest(1), 50.5);
  EXPECT_EQ(histogram.MeanOfSmallest(0), 0);
  // Larger values are as exact as their buckets, and a part of a bucket may be taken.
  histogram.Clear();
  for (int i = 0; i < 95; ++i) histogram.Add(1'000'000);
  for (int i = 0; i < 5; ++i) histogram.Add(40'000'000);
  EXPECT_NEAR(histogram.MeanOfSmallest(0.95), 1e6, 1e4);
  EXPECT_NEAR(histogram.MeanOfSmallest(0.5), 1e6, 1e4);
  EXPECT_NEAR(histogram.mean(), 2.95e6, 1);
}

TEST(HistogramTest, EveryMagnitudeIsWithinOnePercent) {
  for (double value = 1; value < 9e18; value *= 1.37) {
    Histogram histogram;
    const auto exact = static_cast<int64_t>(value);
    histogram.Add(exact);
    histogram.Add(std::numeric_limits<int64_t>::max());
    const auto found = static_cast<double>(histogram.Percentile(0.5));
    EXPECT_GE(found, static_cast<double>(exact));
    EXPECT_LE(found, static_cast<double>(exact) * 1.01);
  }
}

TEST(HistogramTest, NeverReportsMoreThanTheLargest) {
  Histogram histogram;
  histogram.Add(1'000'003);
  EXPECT_EQ(histogram.Percentile(0.99), 1'000'003);
  EXPECT_EQ(histogram.max(), 1'000'003);
}

TEST(HistogramTest, NegativeCountsAsZero) {
  Histogram histogram;
  histogram.Add(-5);
  EXPECT_EQ(histogram.count(), 1u);
  EXPECT_EQ(histogram.max(), 0);
}

TEST(HistogramTest, MergesAndBeginsAnew) {
  Histogram a;
  Histogram b;
  for (int i = 1; i <= 50; ++i) a.Add(i);
  for (int i = 51; i <= 100; ++i) b.Add(i);
  a.Merge(b);
  EXPECT_EQ(a.count(), 100u);
  EXPECT_EQ(a.max(), 100);
  EXPECT_EQ(a.Percentile(0.5), 50);
  EXPECT_DOUBLE_EQ(a.mean(), 50.5);
  EXPECT_DOUBLE_EQ(a.ShareUpTo(25), 0.25);
  EXPECT_DOUBLE_EQ(a.ShareUpTo(1000), 1);
  EXPECT_DOUBLE_EQ(a.ShareUpTo(-1), 0);
  a.Clear();
  EXPECT_EQ(a.count(), 0u);
  EXPECT_EQ(a.Percentile(1), 0);
  EXPECT_DOUBLE_EQ(a.ShareUpTo(1), 0);
}

}  // namespace
}  // namespace nereid::bench
