// SPDX-License-Identifier: Apache-2.0
#include "options/value_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Bounds kWholes = {1, 100, true};

std::vector<double> Values(const char* text, const Bounds& bounds = kWholes) {
  return ParseValueList("--n", text, bounds).value_or(std::vector<double>());
}

std::string WhyNot(const char* text) {
  return std::string(ParseValueList("--n", text, kWholes).status().message());
}

TEST(ValueListTest, ListsAndRanges) {
  EXPECT_THAT(Values("7"), ElementsAre(7));
  EXPECT_THAT(Values("4,2"), ElementsAre(4, 2));
  EXPECT_THAT(Values("1:4"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Values("10:50:20"), ElementsAre(10, 30, 50));
  EXPECT_THAT(Values("1:20:x2"), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(Values("1,10:20:10"), ElementsAre(1, 10, 20));
  EXPECT_THAT(Values("0.5:1:0.25", {0, 1, false}), ElementsAre(0.5, 0.75, 1));
}

TEST(ValueListTest, SayWhatWouldBeRight) {
  EXPECT_EQ(WhyNot("x"), "--n is 'x'; it has to be a whole number from 1 to 100");
  EXPECT_THAT(WhyNot("1.5"), HasSubstr("whole number"));
  EXPECT_THAT(WhyNot("nan"), HasSubstr("whole number"));
  EXPECT_THAT(WhyNot("101"), HasSubstr("from 1 to 100"));
  EXPECT_THAT(WhyNot("1:2:3:4"), HasSubstr("a range is"));
  EXPECT_THAT(WhyNot("1:4:0"), HasSubstr("its step"));
  EXPECT_THAT(WhyNot("1:4:x1"), HasSubstr("its step"));
  EXPECT_THAT(WhyNot("1:4:inf"), HasSubstr("its step"));
  EXPECT_THAT(WhyNot("1:100"), HasSubstr("more than 64 values"));
  EXPECT_THAT(WhyNot("9:1"), HasSubstr("is empty"));
}

}  // namespace
}  // namespace nereid
