// SPDX-License-Identifier: Apache-2.0
#include "scheduling/adaptive/service_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace nereid {
namespace {

using std::chrono::microseconds;

double Micros(Duration duration) { return static_cast<double>(duration.count()) / 1000; }

// Records `rounds` executions of each size.
void Teach(const std::function<double(uint64_t)>& micros, const std::vector<uint64_t>& sizes,
           int rounds, ServiceCurve* curve) {
  for (int round = 0; round < rounds; ++round) {
    for (const uint64_t size : sizes) {
      curve->Record(size, Duration(static_cast<int64_t>(1000 * micros(size))));
    }
  }
}

double Affine(uint64_t units) { return 1000 + 20 * static_cast<double>(units); }

TEST(ServiceCurveTest, NothingIsKnownAtFirst) {
  const ServiceCurve curve(8);
  EXPECT_FALSE(curve.known());
  EXPECT_EQ(curve.Typical(4), Duration(0));
  EXPECT_EQ(curve.efficient_units(), 8u);
}

TEST(ServiceCurveTest, OneSizeTellsItsOwnTimeAndAGuessOfTheOthers) {
  ServiceCurve curve(64);
  Teach(Affine, {4}, 20, &curve);
  EXPECT_NEAR(Micros(curve.Typical(4)), Affine(4), 1);
  // Half of the time is assumed to be fixed.
  EXPECT_NEAR(Micros(curve.Typical(8)), 1.5 * Affine(4), 1);
}

TEST(ServiceCurveTest, SizesThatWereNotSeenLieOnTheLine) {
  ServiceCurve curve(64);
  Teach(Affine, {1, 2, 5, 16, 30}, 60, &curve);
  for (const uint64_t units : {3, 10, 40, 64}) {
    EXPECT_NEAR(Micros(curve.Typical(units)), Affine(units), 0.03 * Affine(units)) << units;
  }
}

TEST(ServiceCurveTest, AStepIsSeenWhereItWasMeasured) {
  const auto steps = [](uint64_t units) { return 300.0 + 400.0 * std::ceil(units / 8.0); };
  ServiceCurve curve(64);
  std::vector<uint64_t> sizes;
  for (uint64_t units = 1; units <= 24; ++units) sizes.push_back(units);
  Teach(steps, sizes, 60, &curve);
  for (const uint64_t units : {8, 9, 16, 17}) {
    EXPECT_NEAR(Micros(curve.Typical(units)), steps(units), 0.06 * steps(units)) << units;
  }
}

TEST(ServiceCurveTest, TheEfficientSizeIsTheLargestUnlessLargerOnesCostMore) {
  ServiceCurve affine(64);
  Teach(Affine, {1, 8, 64}, 60, &affine);
  EXPECT_EQ(affine.efficient_units(), 64u);

  const auto cliff = [](uint64_t units) {
    const auto u = static_cast<double>(units);
    return 100 + 25 * u + (units > 16 ? 75 * (u - 16) : 0);
  };
  ServiceCurve steep(64);
  Teach(cliff, {1, 2, 4, 8, 12, 16, 20, 24, 32, 48, 64}, 60, &steep);
  EXPECT_GE(steep.efficient_units(), 12u);
  EXPECT_LE(steep.efficient_units(), 18u);
}

TEST(ServiceCurveTest, AModelThatChangesIsLearnedAnew) {
  ServiceCurve curve(16);
  Teach(Affine, {1, 4, 16}, 200, &curve);
  Teach([](uint64_t units) { return 2 * Affine(units); }, {1, 4, 16}, 60, &curve);
  EXPECT_NEAR(Micros(curve.Typical(4)), 2 * Affine(4), 0.1 * Affine(4));
}

TEST(ServiceCurveTest, WhatWasMeasuredLongAgoIsForgotten) {
  ServiceCurve curve(16);
  Teach(Affine, {1, 16}, 100, &curve);
  // From now on only batches of one unit, which are ten times as fast.
  Teach([](uint64_t) { return 100; }, {1}, 10'000, &curve);
  EXPECT_NEAR(Micros(curve.Typical(1)), 100, 1);
  EXPECT_LT(Micros(curve.Typical(16)), Affine(16));
}

TEST(ServiceCurveTest, OneHiccupMovesLittle) {
  ServiceCurve curve(8);
  Teach(Affine, {1, 2, 4, 8}, 50, &curve);
  curve.Record(4, std::chrono::seconds(10));
  EXPECT_LT(Micros(curve.Typical(4)), 1.2 * Affine(4));
}

TEST(ServiceCurveTest, CautiousIsTypicalAndTheUsualDeviations) {
  ServiceCurve curve(8);
  for (int i = 0; i < 400; ++i) curve.Record(4, microseconds(i % 2 == 0 ? 900 : 1100));
  EXPECT_NEAR(Micros(curve.Typical(4)), 1000, 20);
  EXPECT_NEAR(Micros(curve.Cautious(4)), 1200, 40);
}

TEST(ServiceCurveTest, SizesBeyondTheSingleNodesAreInterpolated) {
  ServiceCurve curve(1000);
  Teach([](uint64_t units) { return 10 * static_cast<double>(units); }, {1, 100, 333, 1000}, 60,
        &curve);
  for (const uint64_t units : {50, 101, 500, 999, 1500}) {
    const double expected = 10 * static_cast<double>(units);
    EXPECT_NEAR(Micros(curve.Typical(units)), expected, 0.1 * expected) << units;
  }
}

}  // namespace
}  // namespace nereid
