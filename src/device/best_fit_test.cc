// SPDX-License-Identifier: Apache-2.0
#include "device/best_fit.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace nereid {
namespace {

constexpr size_t kUnit = BestFit::kAlignment;

TEST(BestFitTest, TakesTheSmallestPartThatSuffices) {
  BestFit parts(10 * kUnit);
  const size_t first = parts.Allocate(3 * kUnit).value();
  const size_t second = parts.Allocate(kUnit).value();
  const size_t third = parts.Allocate(2 * kUnit).value();
  const size_t fourth = parts.Allocate(kUnit).value();
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(second, 3 * kUnit);
  ASSERT_TRUE(parts.Free(first));
  ASSERT_TRUE(parts.Free(third));
  // Free are now 3, 2 and, at the end, 3 units.
  EXPECT_EQ(parts.Allocate(2 * kUnit), third);
  EXPECT_EQ(parts.Allocate(3 * kUnit), first);
  EXPECT_EQ(parts.Allocate(3 * kUnit), fourth + kUnit);
  EXPECT_EQ(parts.used(), 10 * kUnit);
  EXPECT_EQ(parts.LargestFree(), 0u);
}

TEST(BestFitTest, RoundsUp) {
  BestFit parts(2 * kUnit + 5);
  EXPECT_EQ(parts.byte_size(), 2 * kUnit);
  EXPECT_EQ(parts.Allocate(0), 0u);
  EXPECT_EQ(parts.Allocate(1), kUnit);
  EXPECT_EQ(parts.Allocate(1), std::nullopt);
  EXPECT_EQ(parts.used(), 2 * kUnit);
}

TEST(BestFitTest, WhatDoesNotFitIsNotGiven) {
  BestFit parts(4 * kUnit);
  EXPECT_EQ(parts.Allocate(4 * kUnit + 1), std::nullopt);
  EXPECT_EQ(parts.Allocate(SIZE_MAX), std::nullopt);
  EXPECT_EQ(BestFit(kUnit - 1).Allocate(0), std::nullopt);
  EXPECT_EQ(parts.used(), 0u);
}

TEST(BestFitTest, OnlyAllocationsAreFreedAndOnce) {
  BestFit parts(4 * kUnit);
  const size_t offset = parts.Allocate(2 * kUnit).value();
  EXPECT_FALSE(parts.Free(offset + kUnit));
  EXPECT_TRUE(parts.Free(offset));
  EXPECT_FALSE(parts.Free(offset));
  EXPECT_EQ(parts.LargestFree(), 4 * kUnit);
}

// Against a map of units, each of which knows whose it is.
TEST(BestFitTest, RandomOperationsAgreeWithAMap) {
  constexpr size_t kUnits = 64;
  BestFit parts(kUnits * kUnit);
  std::vector<int> owner(kUnits, 0);
  std::vector<std::pair<size_t, size_t>> live;  // first unit, units
  std::mt19937 random(44);
  for (int step = 1; step <= 200'000; ++step) {
    if (random() % 2 == 0 || live.empty()) {
      const size_t units = 1 + random() % 12;
      size_t longest = 0, run = 0;
      for (const int of : owner) longest = std::max(longest, run = of == 0 ? run + 1 : 0);
      const auto offset = parts.Allocate(units * kUnit - random() % kUnit);
      ASSERT_EQ(offset.has_value(), units <= longest);
      if (!offset.has_value()) continue;
      const size_t begin = *offset / kUnit;
      for (size_t unit = begin; unit < begin + units; ++unit) {
        ASSERT_EQ(owner[unit], 0) << "given twice";
        owner[unit] = step;
      }
      live.emplace_back(begin, units);
    } else {
      std::swap(live[random() % live.size()], live.back());
      ASSERT_TRUE(parts.Free(live.back().first * kUnit));
      for (size_t unit = 0; unit < live.back().second; ++unit) owner[live.back().first + unit] = 0;
      live.pop_back();
    }
    ASSERT_EQ(parts.allocations(), live.size());
  }
  for (const auto& [begin, units] : live) ASSERT_TRUE(parts.Free(begin * kUnit));
  EXPECT_EQ(parts.used(), 0u);
  EXPECT_EQ(parts.LargestFree(), kUnits * kUnit);
}

}  // namespace
}  // namespace nereid
