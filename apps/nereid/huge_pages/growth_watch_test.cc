// SPDX-License-Identifier: Apache-2.0
#include "huge_pages/growth_watch.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

constexpr uint64_t kMebibyte = uint64_t{1} << 20;

TEST(GrowthWatchTest, WaitsUntilTheMemoryRests) {
  GrowthWatch watch;
  EXPECT_FALSE(watch.HasGrown(100 * kMebibyte));
  EXPECT_FALSE(watch.HasGrown(300 * kMebibyte));
  EXPECT_FALSE(watch.HasGrown(200 * kMebibyte));
  EXPECT_FALSE(watch.HasGrown(200 * kMebibyte + 4096));
  EXPECT_TRUE(watch.HasGrown(200 * kMebibyte));
}

TEST(GrowthWatchTest, MemoryThatNeverRestsIsNotForgotten) {
  GrowthWatch watch;
  for (int i = 1; i < GrowthWatch::kMostPatience; ++i) {
    EXPECT_FALSE(watch.HasGrown((100 + i % 2 * 50) * kMebibyte)) << i;
  }
  EXPECT_TRUE(watch.HasGrown(100 * kMebibyte));
}

TEST(GrowthWatchTest, LittleGrowthDoesNotCount) {
  GrowthWatch watch;
  watch.Done(100 * kMebibyte);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(watch.HasGrown((100 + 15) * kMebibyte)) << i;
  constexpr uint64_t kEnough = 100 * kMebibyte + GrowthWatch::kLeastGrowth;
  EXPECT_FALSE(watch.HasGrown(kEnough));
  EXPECT_FALSE(watch.HasGrown(kEnough));
  EXPECT_TRUE(watch.HasGrown(kEnough));
}

// A model that takes the place of another one does not make the process larger.
TEST(GrowthWatchTest, GrowthCountsFromTheSmallestSample) {
  GrowthWatch watch;
  watch.Done(500 * kMebibyte);
  EXPECT_FALSE(watch.HasGrown(400 * kMebibyte));
  EXPECT_FALSE(watch.HasGrown(480 * kMebibyte));
  EXPECT_FALSE(watch.HasGrown(480 * kMebibyte));
  EXPECT_TRUE(watch.HasGrown(480 * kMebibyte));
}

TEST(GrowthWatchTest, OnceIsEnough) {
  GrowthWatch watch;
  for (int i = 0; i < 3; ++i) (void)watch.HasGrown(100 * kMebibyte);
  EXPECT_TRUE(watch.HasGrown(100 * kMebibyte));
  watch.Done(100 * kMebibyte);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(watch.HasGrown(100 * kMebibyte)) << i;
}

}  // namespace
}  // namespace nereid
