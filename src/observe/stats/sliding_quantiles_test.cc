// SPDX-License-Identifier: Apache-2.0
#include "observe/stats/sliding_quantiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

namespace nereid {
namespace {

using ::testing::ElementsAre;

constexpr uint64_t kSecond = 1'000'000'000;

TEST(SlidingQuantilesTest, NothingObservedIsNoNumber) {
  const SlidingQuantiles quantiles;
  EXPECT_TRUE(std::isnan(quantiles.Read(5 * kSecond, {0.5})[0]));
}

TEST(SlidingQuantilesTest, SmallNumbersAreExact) {
  SlidingQuantiles quantiles;
  for (uint64_t i = 1; i <= 20; ++i) quantiles.Observe(kSecond, i);
  EXPECT_THAT(quantiles.Read(kSecond, {0, 0.05, 0.5, 0.95, 1}), ElementsAre(1, 1, 10, 19, 20));
}

// Against the exact quantiles of a wide distribution.
TEST(SlidingQuantilesTest, LargeNumbersAreOffByOneSixtyFourthAtMost) {
  SlidingQuantiles quantiles;
  std::mt19937 random(7);
  std::lognormal_distribution<double> distribution(8, 3);
  std::vector<uint64_t> numbers;
  for (int i = 0; i < 20'000; ++i) {
    numbers.push_back(static_cast<uint64_t>(std::min(distribution(random), 4e9)));
    quantiles.Observe(kSecond, numbers.back());
  }
  std::sort(numbers.begin(), numbers.end());
  const std::vector<double> asked = {0.001, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 1};
  const std::vector<double> read = quantiles.Read(kSecond, asked);
  for (size_t i = 0; i < asked.size(); ++i) {
    const size_t rank = static_cast<size_t>(std::ceil(asked[i] * 20'000)) - 1;
    const double exact = static_cast<double>(numbers[rank]);
    EXPECT_LE(std::abs(read[i] - exact), exact / 64) << "quantile " << asked[i];
  }
}

TEST(SlidingQuantilesTest, HugeNumbersCountAsTheLargest) {
  SlidingQuantiles quantiles;
  quantiles.Observe(kSecond, ~uint64_t{0});
  const double largest = quantiles.Read(kSecond, {1})[0];
  EXPECT_GT(largest, 4.2e9);
  EXPECT_LT(largest, 4.3e9);
}

TEST(SlidingQuantilesTest, NumbersAreForgottenAfterAMinute) {
  SlidingQuantiles quantiles;
  quantiles.Observe(1 * kSecond, 10);
  quantiles.Observe(30 * kSecond, 20);
  EXPECT_THAT(quantiles.Read(59 * kSecond, {0.5, 1}), ElementsAre(10, 20));
  EXPECT_THAT(quantiles.Read(61 * kSecond, {0.5, 1}), ElementsAre(20, 20));
  EXPECT_TRUE(std::isnan(quantiles.Read(100 * kSecond, {0.5})[0]));
  // The same cell again, in a later slice.
  quantiles.Observe(61 * kSecond, 10);
  EXPECT_THAT(quantiles.Read(70 * kSecond, {0.5, 1}), ElementsAre(10, 20));
}

TEST(SlidingQuantilesTest, SlicesMayBeShorter) {
  SlidingQuantiles quantiles(6 * kSecond);
  quantiles.Observe(1 * kSecond, 10);
  EXPECT_THAT(quantiles.Read(29 * kSecond, {0.5}), ElementsAre(10));
  EXPECT_TRUE(std::isnan(quantiles.Read(31 * kSecond, {0.5})[0]));
}

TEST(SlidingQuantilesTest, ALateNumberReplacesNoNewerOne) {
  SlidingQuantiles quantiles;
  quantiles.Observe(61 * kSecond, 10);
  quantiles.Observe(1 * kSecond, 10);
  EXPECT_THAT(quantiles.Read(61 * kSecond, {1}), ElementsAre(10));
}

TEST(SlidingQuantilesTest, ThreadsLoseNoNumber) {
  SlidingQuantiles quantiles;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&quantiles, t] {
      for (int i = 0; i < 10'000; ++i) quantiles.Observe(kSecond, t < 3 ? 1 : 2);
    });
  }
  for (std::thread& thread : threads) thread.join();
  // A single number more or less would move one of these.
  EXPECT_THAT(quantiles.Read(kSecond, {0.75, 0.75001}), ElementsAre(1, 2));
}

}  // namespace
}  // namespace nereid
