// SPDX-License-Identifier: Apache-2.0
#include "observe/stats/duration_histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace nereid {
namespace {

using ::testing::ElementsAre;

TEST(DurationHistogramTest, TheBoundsAreFarEnoughApartForTheLookUp) {
  for (size_t i = 1; i < kDurationBounds.size(); ++i) {
    EXPECT_GE(kDurationBounds[i], 2 * kDurationBounds[i - 1]) << i;
  }
}

TEST(DurationHistogramTest, ABoundBelongsToItsBucket) {
  EXPECT_EQ(DurationHistogram::BucketOf(0), 0u);
  EXPECT_EQ(DurationHistogram::BucketOf(1), 0u);
  for (size_t i = 0; i < kDurationBounds.size(); ++i) {
    EXPECT_EQ(DurationHistogram::BucketOf(kDurationBounds[i] - 1), i);
    EXPECT_EQ(DurationHistogram::BucketOf(kDurationBounds[i]), i);
    EXPECT_EQ(DurationHistogram::BucketOf(kDurationBounds[i] + 1), i + 1);
  }
  EXPECT_EQ(DurationHistogram::BucketOf(std::numeric_limits<uint64_t>::max()),
            kDurationBounds.size());
}

TEST(DurationHistogramTest, EveryPowerOfTwoFindsItsBucket) {
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t ns = uint64_t{1} << bit;
    size_t bucket = 0;
    while (bucket < kDurationBounds.size() && kDurationBounds[bucket] < ns) ++bucket;
    EXPECT_EQ(DurationHistogram::BucketOf(ns), bucket) << ns;
  }
}

TEST(DurationHistogramTest, CountsAddUpOverHistograms) {
  DurationHistogram one;
  DurationHistogram two;
  one.Observe(50'000);
  one.Observe(20'000'000'000);
  two.Observe(60'000);
  DurationCounts counts{};
  one.AddTo(&counts);
  two.AddTo(&counts);
  EXPECT_EQ(counts.front(), 2u);
  EXPECT_EQ(counts.back(), 1u);
}

TEST(ValueHistogramTest, CountsByItsOwnBounds) {
  ValueHistogram histogram({100, 500.5});
  for (const uint64_t value : {0, 100, 101, 500, 501, 9000}) histogram.Observe(value);
  EXPECT_THAT(histogram.counts(), ElementsAre(2, 2, 2));
  EXPECT_EQ(histogram.sum(), 10'202u);
}

}  // namespace
}  // namespace nereid
