// SPDX-License-Identifier: Apache-2.0
#include "backends/fil/forest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/fil/lightgbm.h"
#include "backends/fil/ubjson.h"
#include "backends/fil/xgboost.h"

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kMost = std::numeric_limits<float>::max();

// A forest of one feature and of one tree with one split: 1 on the left, 2 on the right.
Forest OneSplit(Split split) {
  split.left = ~0;
  split.right = ~1;
  Result<Forest> forest = Forest::Create(1, 1);
  const double leaves[] = {1, 2};
  EXPECT_TRUE(forest->AddTree({&split, 1}, leaves, 0).ok());
  return *std::move(forest);
}

float Score(const Forest& forest, float x) {
  float score = 0;
  forest.Scores(&x, 1, &score);
  return score;
}

TEST(ThresholdTest, BelowMeansLess) {
  for (const float threshold :
       {0.0f, -0.0f, 1.0f, -1.5f, 1e-45f, kMost, -kMost, kInfinity, -kInfinity}) {
    for (const float x : {0.0f, -0.0f, 1e-45f, -1e-45f, 1.0f, std::nextafter(1.0f, 0.0f), -1.5f,
                          kMost, -kMost, kInfinity, -kInfinity}) {
      EXPECT_EQ(x <= BelowThreshold(threshold), x < threshold) << x << " " << threshold;
    }
  }
}

TEST(ThresholdTest, RoundedDownComparesFloatsAsTheDouble) {
  const double wide = std::numeric_limits<double>::max();
  for (const double threshold : {0.0, 0.1, -0.1, 1e-50, -1e-50, 1e300, -1e300, wide, -wide,
                                 double{kMost}, double{kInfinity}, -double{kInfinity}}) {
    for (const float x : {0.0f, 0.1f, -0.1f, std::nextafter(0.1f, 0.0f), 1e-45f, -1e-45f, kMost,
                          -kMost, kInfinity, -kInfinity}) {
      EXPECT_EQ(x <= RoundedDown(threshold), double{x} <= threshold) << x << " " << threshold;
    }
  }
}

TEST(ThresholdTest, BelowComparesFloatsAsTheDouble) {
  const double wide = std::numeric_limits<double>::max();
  for (const double threshold : {0.0, 0.1, -0.1, double{0.1f}, 1e-50, -1e-50, wide, -wide,
                                 double{kMost}, double{kInfinity}, -double{kInfinity}}) {
    for (const float x : {0.0f, 0.1f, -0.1f, std::nextafter(0.1f, 0.0f), 1e-45f, -1e-45f, kMost,
                          -kMost, kInfinity, -kInfinity}) {
      EXPECT_EQ(x <= BelowThreshold(threshold), double{x} < threshold) << x << " " << threshold;
    }
  }
}

TEST(ForestTest, MissingValuesGoWhereTheSplitSays) {
  EXPECT_EQ(Score(OneSplit({.threshold = 0, .nan_goes_left = true}), kMissing), 1);
  EXPECT_EQ(Score(OneSplit({.threshold = 0, .nan_goes_left = false}), kMissing), 2);
  const Forest zero = OneSplit({.threshold = -1, .nan_goes_left = true, .zero_is_missing = true});
  EXPECT_EQ(Score(zero, 0), 1);
  EXPECT_EQ(Score(zero, 1e-36f), 1);
  EXPECT_EQ(Score(zero, 1), 2);
  EXPECT_EQ(Score(zero, -1), 1);
}

TEST(ForestTest, CategoriesOfTheSetGoLeft) {
  const Forest forest = OneSplit({.by_category = true, .categories = {1 << 3, 1}});
  EXPECT_EQ(Score(forest, 3), 1);
  EXPECT_EQ(Score(forest, 3.7f), 1);
  EXPECT_EQ(Score(forest, 32), 1);
  for (const float other :
       {0.0f, 4.0f, 33.0f, 64.0f, -1.0f, 1e9f, kInfinity, -kInfinity, kMissing}) {
    EXPECT_EQ(Score(forest, other), 2) << other;
  }
}

TEST(ForestTest, WhatIsNotQuiteNegativeIsCategory0WhereTheLibrarySaysSo) {
  Forest forest = OneSplit({.by_category = true, .categories = {1}});
  EXPECT_EQ(Score(forest, -0.5f), 1);
  forest.truncates_to_category = false;
  EXPECT_EQ(Score(forest, -0.5f), 2);
  EXPECT_EQ(Score(forest, -0.0f), 1);
}

TEST(ForestTest, LeavesMayHoldAValueForEachOutput) {
  Result<Forest> forest = Forest::Create(1, 2);
  ASSERT_TRUE(forest.ok());
  const Split split[] = {{.threshold = 0, .left = ~1, .right = ~0}};
  const double leaves[] = {1, 2, 30, 40};
  ASSERT_TRUE(forest->AddVectorTree(split, leaves).ok());
  const double leaf[] = {500};
  ASSERT_TRUE(forest->AddTree({}, leaf, 1).ok());
  const float rows[] = {-1, 1};
  float scores[4];
  forest->Scores(rows, 2, scores);
  EXPECT_THAT(scores, ElementsAre(30, 540, 1, 502));
  const Split far[] = {{.left = ~0, .right = ~2}};
  EXPECT_THAT(forest->AddVectorTree(far, leaves).message(), HasSubstr("leads to leaf 2"));
}

TEST(ForestTest, TheBaseMayComeLastAsADouble) {
  Result<Forest> forest = Forest::Create(1, 1);
  ASSERT_TRUE(forest.ok());
  for (const double leaf : {3.0, 3.0, -1e8}) {
    ASSERT_TRUE(forest->AddTree({}, {&leaf, 1}, 0).ok());
  }
  forest->base = {1e8};
  EXPECT_EQ(Score(*forest, 0), 0);  // floats near 1e8 are 8 apart
  forest->base_is_last = true;
  EXPECT_EQ(Score(*forest, 0), 8);
  forest->divisors = {2};
  forest->base = {0.1};
  EXPECT_EQ(Score(*forest, 0), static_cast<float>(-99999992 / 2 + 0.1));
}

TEST(ForestTest, ClassesAreTheFirstOfTheGreatestSums) {
  Result<Forest> forest = Forest::Create(1, 3);
  ASSERT_TRUE(forest.ok());
  for (const int output : {1, 2}) {
    const double leaf[] = {5};
    ASSERT_TRUE(forest->AddTree({}, leaf, output).ok());
  }
  const float row = 0;
  float result = 0;
  forest->Classes(&row, 1, &result);
  EXPECT_EQ(result, 1);
}

TEST(ForestTest, RefusesWhatIsNoTree) {
  Result<Forest> forest = Forest::Create(2, 1);
  const double leaves[] = {1, 2};
  const Split self[] = {{.left = 0, .right = ~0}};
  EXPECT_THAT(forest->AddTree(self, leaves, 0).message(), HasSubstr("two splits lead to node 0"));
  const Split far[] = {{.left = 7, .right = ~0}};
  EXPECT_THAT(forest->AddTree(far, leaves, 0).message(), HasSubstr("leads to node 7"));
  const Split no_leaf[] = {{.left = ~0, .right = ~2}};
  EXPECT_THAT(forest->AddTree(no_leaf, leaves, 0).message(), HasSubstr("leads to leaf 2"));
  const Split feature[] = {{.feature = 2, .left = ~0, .right = ~1}};
  EXPECT_THAT(forest->AddTree(feature, leaves, 0).message(), HasSubstr("by feature 2"));
  EXPECT_THAT(forest->AddTree({}, leaves, 1).message(), HasSubstr("class 1"));
  EXPECT_THAT(Forest::Create(0, 1).error().message(), HasSubstr("0 features"));
}

// Two nodes under the root; x < 0.5 goes left.
constexpr std::string_view kTree = R"({"left_children":[1,-1,-1],"right_children":[2,-1,-1],
  "split_indices":[0,0,0],"split_conditions":[0.5,1.5,-2],"default_left":[true,false,false],
  "tree_param":{"size_leaf_vector":"0"}})";

std::string HandWritten(std::string_view base) {
  return StrCat(R"({"learner":{"learner_model_param":{"base_score":")", base,
                R"(","num_class":"0","num_feature":"1"},"objective":{"name":"reg:squarederror"},)",
                R"("gradient_booster":{"name":"gbtree","model":{"tree_info":[0],"trees":[)", kTree,
                "]}}}}");
}

TEST(XgboostTest, ReadsAModelWrittenByHand) {
  for (const char* base : {"1E0", "[1E0]"}) {
    Result<Forest> forest = ReadXgboostJson(HandWritten(base));
    ASSERT_TRUE(forest.ok()) << forest.error().message();
    EXPECT_EQ(Score(*forest, 0.4f), 2.5f);
    EXPECT_EQ(Score(*forest, 0.5f), -1);
    EXPECT_EQ(Score(*forest, kMissing), 2.5f);
  }
}

TEST(LightgbmTest, ReadsAModelWrittenByHand) {
  constexpr std::string_view kText =
      "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=0\nobjective=regression\n\n"
      "Tree=0\nnum_leaves=2\nsplit_feature=0\nthreshold=0.5\ndecision_type=2\nleft_child=-1\n"
      "right_child=-2\nleaf_value=1 2\n\n\nTree=1\nnum_leaves=1\nleaf_value=0.25\n\n\n"
      "end of trees\n";
  Result<Forest> forest = ReadLightgbm(kText);
  ASSERT_TRUE(forest.ok()) << forest.error().message();
  EXPECT_EQ(Score(*forest, 0.5f), 1.25f);
  EXPECT_EQ(Score(*forest, 0.6f), 2.25f);
  EXPECT_EQ(Score(*forest, kMissing), 1.25f);  // counts as 0
  EXPECT_THAT(ReadLightgbm(kText.substr(0, kText.find("end of"))).error().message(),
              HasSubstr("it ends before the line 'end of trees'"));
}

// Writes down what a reader reports.
class Recorder final : public DocumentEvents {
 public:
  bool OnKey(std::string_view key) override { return Add(StrCat("key ", key)); }
  bool OnString(std::string_view text) override { return Add(StrCat("text ", text)); }
  bool OnNumber(const DocumentNumber& number) override { return Add(StrCat(number.value)); }
  bool OnOpen(bool is_object) override { return Add(is_object ? "{" : "["); }
  bool OnClose() override { return Add("end"); }

  std::vector<std::string> seen;

 private:
  bool Add(std::string event) {
    seen.push_back(std::move(event));
    return true;
  }
};

TEST(UbjsonTest, ReportsAllKindsOfValues) {
  using namespace std::string_view_literals;  // NOLINT(google-build-using-namespace)
  Recorder recorder;
  const std::string_view bytes =
      "{i\1a[$I#i\2\1\0\377\376i\1b[i\377U\377TFZ]i\1c{#i\1i\1dSi\2hi"
      "i\1e[#i\2d\77\300\0\0D\300\0\0\0\0\0\0\0}"sv;
  const Error read = ReadUbjson(bytes, &recorder);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_THAT(recorder.seen,
              ElementsAre("{", "key a", "[", "256", "-2", "end", "key b", "[", "-1", "255", "1",
                          "0", "text ", "end", "key c", "{", "key d", "text hi", "end", "key e",
                          "[", "1.5", "-2", "end", "end"));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadUbjson(bytes.substr(0, size), &recorder).ok()) << size;
  }
}

}  // namespace
}  // namespace nereid_backend
