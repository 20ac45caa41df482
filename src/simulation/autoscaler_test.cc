// SPDX-License-Identifier: Apache-2.0
// Worked out by hand from the documentation of the HorizontalPodAutoscaler.
#include "simulation/autoscaler.h"

#include <gmock/gmock.h>

namespace nereid {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSecond = 1'000'000'000;

AutoscalerOptions Options(uint32_t least = 1, uint32_t most = 20) {
  AutoscalerOptions options;
  options.target = 10;
  options.least = least;
  options.most = most;
  return options;
}

uint32_t First(const FleetSight& sight, const AutoscalerOptions& options = Options()) {
  return Autoscaler(options).Decide(kSecond, sight);
}

TEST(Autoscaler, BringsTheGaugeToTheTarget) {
  EXPECT_EQ(First({2, 0, 15}), 3u);
  EXPECT_EQ(First({3, 0, 12}), 4u);  // 3.6
}

TEST(Autoscaler, NearTheTargetNothingChanges) {
  EXPECT_EQ(First({10, 0, 11}), 10u);
  EXPECT_EQ(First({10, 0, 11.2}), 12u);
  EXPECT_EQ(First({10, 0, 9}), 10u);
}

TEST(Autoscaler, KeepsItsBounds) {
  EXPECT_EQ(First({10, 0, 1000}, Options(1, 12)), 12u);
  EXPECT_EQ(First({2, 0, 0}, Options(2)), 2u);
}

TEST(Autoscaler, GrowsByFourOrToTheDouble) {
  EXPECT_EQ(First({1, 0, 1000}), 5u);
  EXPECT_EQ(First({6, 0, 1000}), 12u);
}

TEST(Autoscaler, NodesThatStartAreNotAskedForTwice) {
  EXPECT_EQ(First({2, 2, 20}), 4u);
  EXPECT_EQ(First({2, 2, 40}), 8u);
}

TEST(Autoscaler, ShrinksWhenNobodyHasWantedMoreForAWhile) {
  Autoscaler scaler(Options());
  EXPECT_EQ(scaler.Decide(0, {8, 0, 10}), 8u);
  EXPECT_EQ(scaler.Decide(15 * kSecond, {8, 0, 5}), 8u);    // wants 4
  EXPECT_EQ(scaler.Decide(30 * kSecond, {8, 0, 7.5}), 8u);  // wants 6
  EXPECT_EQ(scaler.Decide(299 * kSecond, {8, 0, 2}), 8u);
  EXPECT_EQ(scaler.Decide(300 * kSecond, {8, 0, 2}), 6u);
  EXPECT_EQ(scaler.Decide(330 * kSecond, {6, 0, 2}), 2u);
}

TEST(Autoscaler, TheWindowHoldsFromTheBeginning) {
  Autoscaler scaler(Options());
  EXPECT_EQ(scaler.Decide(kSecond, {8, 0, 0}), 8u);
  EXPECT_EQ(scaler.Decide(302 * kSecond, {8, 0, 0}), 1u);
}

TEST(Autoscaler, OptionsThatMakeNoSense) {
  EXPECT_TRUE(Autoscaler::Check(Options()).ok());
  EXPECT_THAT(std::string(Autoscaler::Check(Options(0)).message()), HasSubstr("from 0 to 20"));
  EXPECT_THAT(std::string(Autoscaler::Check(Options(3, 2)).message()), HasSubstr("from 3 to 2"));
  AutoscalerOptions options = Options();
  options.target = 0;
  EXPECT_THAT(std::string(Autoscaler::Check(options).message()), HasSubstr("target"));
  options = Options();
  options.interval = Duration(0);
  EXPECT_THAT(std::string(Autoscaler::Check(options).message()), HasSubstr("interval"));
}

}  // namespace
}  // namespace nereid
