// SPDX-License-Identifier: Apache-2.0
#include "plain/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid {
namespace {

const std::vector<std::string> kNames = {"input", "output", "max_batch_size", "TYPE_FP32"};

TEST(NearestTest, CountsEdits) {
  EXPECT_EQ(FewestEdits("inputs", kNames), "input");
  EXPECT_EQ(FewestEdits("max_batchsize", kNames), "max_batch_size");
  EXPECT_EQ(FewestEdits("outpot", kNames), "output");
  EXPECT_EQ(FewestEdits("type_fp_32", kNames), "TYPE_FP32") << "case does not count";
}

TEST(NearestTest, BadAdviceIsNotGiven) {
  EXPECT_EQ(FewestEdits("", kNames), "");
  EXPECT_EQ(FewestEdits("in", kNames), "");
  EXPECT_EQ(FewestEdits("input", {}), "");
  EXPECT_EQ(FewestEdits("abc", std::vector<std::string>{"abd"}), "") << "a third";
  EXPECT_EQ(FewestEdits("abcd", std::vector<std::string>{"abce"}), "abce") << "a quarter";
}

TEST(NearestTest, TheFirstOfSeveral) {
  EXPECT_EQ(FewestEdits("step3", std::vector<std::string>{"step1", "step2"}), "step1");
  EXPECT_EQ(FewestEdits("steps", std::vector<std::string>{"step12", "step"}), "step");
}

TEST(NearestTest, LongNamesAreNotLookedAt) {
  const std::vector<std::string> names = {std::string(kLongestMisspelt, 'a')};
  EXPECT_EQ(FewestEdits(std::string(kLongestMisspelt, 'a'), names), names[0]);
  EXPECT_EQ(FewestEdits(std::string(kLongestMisspelt + 1, 'a'), names), "");
}

}  // namespace
}  // namespace nereid
