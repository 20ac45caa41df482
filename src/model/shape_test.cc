// SPDX-License-Identifier: Apache-2.0
#include "model/shape.h"

#include <gtest/gtest.h>

#include <limits>

namespace nereid {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(ShapeTest, TextHasNoSpaces) {
  EXPECT_EQ(ShapeToString({}), "[]");
  EXPECT_EQ(ShapeToString({7}), "[7]");
  EXPECT_EQ(ShapeToString({-1, 16}), "[-1,16]");
}

TEST(ShapeTest, ElementCountIsTheProduct) {
  EXPECT_EQ(ElementCount({}), 1);
  EXPECT_EQ(ElementCount({2, 3, 4}), 24);
  EXPECT_EQ(ElementCount({2, 0, 4}), 0);
}

TEST(ShapeTest, ElementCountNeedsEveryDimension) {
  EXPECT_EQ(ElementCount({-1}), std::nullopt);
  EXPECT_EQ(ElementCount({2, -3}), std::nullopt);
  EXPECT_EQ(ElementCount({0, -1}), std::nullopt);
}

TEST(ShapeTest, ElementCountDoesNotOverflow) {
  EXPECT_EQ(ElementCount({kMax}), kMax);
  EXPECT_EQ(ElementCount({kMax, 1}), kMax);
  EXPECT_EQ(ElementCount({kMax, 2}), std::nullopt);
  EXPECT_EQ(ElementCount({int64_t{1} << 32, int64_t{1} << 31}), std::nullopt);
}

TEST(ShapeTest, ByteSizeIsElementsTimesSize) {
  EXPECT_EQ(TensorByteSize(DataType::kFp32, {2, 3}), 24);
  EXPECT_EQ(TensorByteSize(DataType::kInt8, {}), 1);
  EXPECT_EQ(TensorByteSize(DataType::kFp64, {0}), 0);
}

TEST(ShapeTest, ByteSizeMayNotBeKnown) {
  EXPECT_EQ(TensorByteSize(DataType::kBytes, {1}), std::nullopt);
  EXPECT_EQ(TensorByteSize(DataType::kInvalid, {1}), std::nullopt);
  EXPECT_EQ(TensorByteSize(DataType::kFp32, {-1}), std::nullopt);
  EXPECT_EQ(TensorByteSize(DataType::kFp32, {kMax / 4 + 1}), std::nullopt);
  EXPECT_EQ(TensorByteSize(DataType::kFp32, {kMax / 4}), kMax / 4 * 4);
}

TEST(ShapeTest, AVariableDimensionMatchesAnything) {
  EXPECT_TRUE(ShapeMatches({-1, 16}, {3, 16}));
  EXPECT_TRUE(ShapeMatches({-1}, {0}));
  EXPECT_FALSE(ShapeMatches({-1, 16}, {3, 15}));
  EXPECT_FALSE(ShapeMatches({16}, {-1})) << "only the pattern varies";
}

TEST(ShapeTest, RanksMustAgree) {
  EXPECT_TRUE(ShapeMatches({}, {}));
  EXPECT_FALSE(ShapeMatches({-1}, {1, 1}));
  EXPECT_FALSE(ShapeMatches({-1}, {}));
}

}  // namespace
}  // namespace nereid
