// SPDX-License-Identifier: Apache-2.0
// Files that are broken, each refused with one sentence. Models of the libraries are changed in one
// place, so that everything else about them is right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "backends/fil/categories.h"
#include "backends/fil/test_files.h"

namespace nereid_backend {
namespace {

using ::testing::HasSubstr;

struct Broken {
  const char* file;
  const char* found;  // the first place where it occurs is replaced
  const char* replacement;
  const char* problem;
};

constexpr Broken kBroken[] = {
    {"xgb_logistic.json", "{", "", "it is not JSON of XGBoost: at offset"},
    {"xgb_logistic.json", "\"learner\"", "\"teacher\"", "it has no learner"},
    {"xgb_logistic.json", "\"gbtree\"", "\"gblinear\"", "its booster is gblinear, a linear model"},
    {"xgb_logistic.json", "\"gbtree\"", "\"shrub\"", "its booster is 'shrub'"},
    {"xgb_logistic.json", "\"name\":\"binary:logistic\"", "\"name\":\"my:own\"",
     "its objective is 'my:own'"},
    {"xgb_logistic.json", "\"num_feature\":\"5\",\"num_target\":\"1\"",
     "\"num_feature\":\"5\",\"num_target\":\"0x2\"", "its num_target is '0x2'"},
    {"xgb_logistic.json", "\"num_feature\":\"5\",\"num_target\"",
     "\"num_feature\":\"five\",\"num_target\"", "its num_feature is 'five'"},
    {"xgb_logistic.json", "\"num_feature\":\"5\",\"num_target\"",
     "\"num_feature\":\"0\",\"num_target\"", "it has 0 features"},
    {"xgb_logistic.json", "\"num_class\":\"0\"", "\"num_class\":\"999999999\"",
     "it has 999999999 classes"},
    {"xgb_logistic.json", "\"base_score\":\"", "\"base_score\":\"x", "its base_score is 'x"},
    {"xgb_logistic.json", "\"base_score\":\"[", "\"base_score\":\"[7,",
     "it has 2 numbers in base_score and 1 classes"},
    {"xgb_logistic.json", "\"base_score\":\"[", "\"base_score\":\"[3",
     "does not suit its objective"},
    {"xgb_logistic.json", "\"tree_info\":[0,", "\"tree_info\":[", "3 trees and 2 elements"},
    {"xgb_logistic.json", "\"tree_info\":[0,", "\"tree_info\":[5,", "it belongs to class 5"},
    {"xgb_logistic.json", "\"left_children\":[1,", "\"left_children\":[0,",
     "its tree 0 cannot be read: two splits lead to node 0"},
    {"xgb_logistic.json", "\"left_children\":[1,", "\"left_children\":[1000,",
     "its tree 0 cannot be read: a split leads to node"},
    {"xgb_logistic.json", "\"right_children\":[", "\"right_children\":[1,",
     "right_children; both have one per node"},
    {"xgb_logistic.json", "\"split_indices\":[", "\"split_indices\":[77777777777,",
     "split_indices; both have one per node"},
    {"xgb_logistic.json", "\"size_leaf_vector\":\"1\"", "\"size_leaf_vector\":\"3\"",
     "its leaves hold several values and it has no leaf_weights"},
    {"xgb_softprob.json", "\"num_target\":\"1\"", "\"num_target\":\"2\"",
     "it has 3 classes and 2 targets"},
    {"xgb_vectors.json", "\"leaf_weights\":[", "\"leaf_weights\":[0.5,",
     "leaf_weights, and 2 belong to each leaf"},
    {"xgb_dart.json", "\"weight_drop\":[", "\"weight_drop\":[1,",
     "it has 3 trees and 4 elements in weight_drop"},
    {"xgb_categories.json", "\"categories_segments\":[", "\"categories_segments\":[9,",
     "differ in length"},
    {"xgb_categories.json", "\"categories_sizes\":[", "\"categories_sizes\":[99999",
     "out of range"},
    {"xgb_categories.json", "\"categories\":[", "\"categories\":[0.5,",
     "one of its categories is not a whole number"},
    {"xgb_softprob.ubj", "{", "[", "it is not UBJSON of XGBoost"},
    {"xgb_softprob.ubj", "[$", "[#", "it is not UBJSON of XGBoost"},
    {"lgb_binary.txt", "tree\n", "three\n", "it does not begin with a line 'tree'"},
    {"lgb_binary.txt", "end of trees", "Tree=3", "its tree 3 cannot be read: it has no num_leaves"},
    {"lgb_binary.txt", "max_feature_idx=4", "max_feature_idx=-1", "its max_feature_idx is -1"},
    {"lgb_binary.txt", "max_feature_idx=4", "max_feature_idx=0", "splits by feature"},
    {"lgb_binary.txt", "num_tree_per_iteration=1", "num_tree_per_iteration=2",
     "it has 3 trees, and 2 for each iteration"},
    {"lgb_binary.txt", "num_tree_per_iteration=1", "num_tree_per_iteration=one",
     "its num_tree_per_iteration is 'one'"},
    {"lgb_binary.txt", "objective=binary", "objective=ternary", "its objective is 'ternary"},
    {"lgb_binary.txt", "threshold=", "threshold=x", "its threshold holds 'x"},
    {"lgb_binary.txt", "threshold=", "threshold=1 ", "its threshold does not have the number"},
    {"lgb_binary.txt", "left_child=1", "left_child=0", "two splits lead to node 0"},
    {"lgb_binary.txt", "leaf_value=", "nothing=", "it has no leaf_value"},
    {"lgb_binary.txt", "Tree=0", "Bush=0", "its section has no line 'Tree='"},
    {"lgb_binary.txt", "is_linear=0", "is_linear=1", "its leaves hold linear models"},
    {"lgb_categories.txt", "cat_boundaries=0", "cat_boundaries=-5", "not in cat_threshold"},
};

void ExpectRefused(const char* file, const std::string& bytes, const char* problem) {
  Result<Forest> forest = ReadTestModel(file, bytes);
  ASSERT_FALSE(forest.ok());
  const std::string text = forest.error().message();
  EXPECT_THAT(text, HasSubstr(problem));
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(BrokenFilesTest, EachIsRefusedWithOneSentence) {
  for (const Broken& broken : kBroken) {
    SCOPED_TRACE(StrCat(broken.file, ": ", broken.found, " -> ", broken.replacement));
    std::string bytes = ReadTestFile(broken.file);
    const size_t at = bytes.find(broken.found);
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, std::string_view(broken.found).size(), broken.replacement);
    ExpectRefused(broken.file, bytes, broken.problem);
  }
}

// Checkpoints are binary: a byte is changed.
struct BrokenCheckpoint {
  const char* file;
  size_t at;
  uint8_t byte;
  const char* problem;
};

constexpr BrokenCheckpoint kBrokenCheckpoints[] = {
    {"tl_comparisons.tl", 0, 3, "it is a checkpoint of Treelite 3; load it with Treelite 4"},
    {"tl_comparisons.tl", 0, 5, "it does not begin with the version 4"},
    {"tl_comparisons.tl", 12, 3, "its threshold_type is 3 and its leaf_output_type 2"},
    {"tl_comparisons.tl", 13, 1, "both are 2 (float) or 3 (double)"},
    {"tl_comparisons.tl", 14, 3, "its target_id has 2 elements and not 3"},
    {"tl_comparisons.tl", 22, 0, "it has 0 features"},
    {"tl_comparisons.tl", 28, 2, "its num_class has 1 elements and not 2"},
    {"tl_comparisons.tl", 40, 2, "its base_scores has 1 elements and not 2"},
    {"tl_comparisons.tl", 52, 2, "does not go with leaves of 2 x 1 values"},
    {"tl_comparisons.tl", 67, 9, "it ends before the end of its target_id"},
    {"tl_comparisons.tl", 72, 1, "its target_id is 1 and its class_id 0"},
    {"tl_comparisons.tl", 100, 'E', "its postprocessor is 'Exponential_standard_ratio'"},
    {"tl_comparisons.tl", 160, 1, "it has 1 optional fields, which no Treelite"},
    {"tl_comparisons.tl", 164, 0, "its tree 0 cannot be read: its num_nodes is 0"},
    {"tl_comparisons.tl", 164, 8, "its node_type has 7 elements and not 8"},
    {"tl_comparisons.tl", 178, 0, "differ in whether node 1 is a leaf"},
    {"tl_comparisons.tl", 178, 3, "its node_type of node 1 is 3"},
    {"tl_comparisons.tl", 192, 0, "two splits lead to node 0"},
    {"tl_comparisons.tl", 192, 7, "a split leads to node 7"},
    {"tl_comparisons.tl", 264, 5, "node 0 splits by feature 5, and the model has 5"},
    {"tl_comparisons.tl", 387, 1, "node 0 compares by '=='"},
    {"tl_comparisons.tl", 387, 6, "its cmp of node 0 is 6"},
    {"tl_comparisons.tl", 737, 6, "its tree 1 cannot be read: its node_type has 7 elements"},
    {"tl_comparisons.tl", 1129, 1, "one of its categories is not a whole number from 0 to 2^24"},
    {"tl_comparisons.tl", 1246, 11, "the categories of node 1 are not in category_list"},
    {"tl_comparisons.tl", 1246, 10, "its category_list has 10 categories, too few for its nodes"},
    {"tl_comparisons.tl", 1342, 1, "it has 1 optional fields of trees"},
    {"tl_comparisons.tl", 1346, 1, "it has 1 optional fields of nodes"},
    {"tl_forest.tl", 1096, 4, "its leaf_vector does not have 3 values for node 3"},
    {"tl_forest.tl", 1184, 99, "its leaf_vector does not have 3 values for node 14"},
    {"tl_targets.tl", 40, 2, "it predicts 2 targets with up to 2 classes"},
    {"tl_forest.tl", 117, 'X', "its postprocessor is 'identity_Xulticlass'"},
};

TEST(BrokenFilesTest, EachCheckpointIsRefusedWithOneSentence) {
  for (const BrokenCheckpoint& broken : kBrokenCheckpoints) {
    SCOPED_TRACE(StrCat(broken.file, ": byte ", broken.at, " = ", int{broken.byte}));
    std::string bytes = ReadTestFile(broken.file);
    ASSERT_NE(bytes.at(broken.at), static_cast<char>(broken.byte));
    bytes[broken.at] = static_cast<char>(broken.byte);
    ExpectRefused(broken.file, bytes, broken.problem);
  }
  const std::string whole = ReadTestFile("tl_comparisons.tl");
  ExpectRefused("tl_comparisons.tl", whole + whole, "it goes on after its last tree");
}

// Otherwise a small file could become a large forest.
TEST(BrokenFilesTest, LeavesOfACheckpointDoNotShareTheirVectors) {
  std::string bytes = ReadTestFile("tl_forest.tl");
  bytes[1056] = 18;  // node 14: the vector of node 13
  bytes[1184] = 21;
  EXPECT_TRUE(ReadTreelite(bytes).ok());
  bytes[736] = 21;
  bytes.erase(912, 3 * sizeof(double));
  bytes[1056 - 24] = 18;
  bytes[1184 - 24] = 21;
  ExpectRefused("tl_forest.tl", bytes, "its leaf_vector has 21 values, too few for its leaves");
}

// A small file whose sets of categories would need much memory.
TEST(BrokenFilesTest, SetsOfCategoriesAreBounded) {
  CategorySets sets;
  std::vector<std::vector<uint32_t>> all(200);
  size_t good = 0;
  while (good < all.size() && sets.Add((1 << 24) - 1, &all[good]).ok()) ++good;
  EXPECT_EQ(good, (size_t{1} << 26) / ((1 << 24) / 32));
}

// Whatever is cut off or changed: an error or a forest, and no crash.
TEST(BrokenFilesTest, CutAndChangedBytesDoNoHarm) {
  for (const char* file : {"xgb_logistic.json", "xgb_categories.ubj", "lgb_categories.txt",
                           "tl_comparisons.tl", "tl_two_classes.tl"}) {
    SCOPED_TRACE(file);
    const std::string whole = ReadTestFile(file);
    const size_t end = whole.rfind("end of trees");
    for (size_t size = 0; size < std::min(end, whole.size()); size += 7) {
      EXPECT_FALSE(ReadTestModel(file, whole.substr(0, size)).ok()) << size;
    }
    int good = 0;
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 7)));
      Result<Forest> forest = ReadTestModel(file, changed);
      if (!forest.ok()) continue;
      ++good;
      const std::vector<float> row(forest->features(), 1.0f);
      std::vector<float> scores(forest->outputs());
      forest->Scores(row.data(), 1, scores.data());
    }
    EXPECT_GT(good, 0);
    EXPECT_LT(good, static_cast<int>(whole.size()));
  }
}

}  // namespace
}  // namespace nereid_backend
