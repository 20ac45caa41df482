// SPDX-License-Identifier: Apache-2.0
// Forest: the trees of a model, packed for evaluation. Built by a reader, then immutable;
// thread-safe after that.
//
// All comparisons are of floats: "x <= threshold". For inputs that are floats, "x < t" of XGBoost
// and "x <= t" with the doubles of LightGBM say the same with a threshold that is rounded down, so
// the results are those of the library that made the model.
#ifndef NEREID_BACKENDS_FIL_FOREST_H_
#define NEREID_BACKENDS_FIL_FOREST_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "backends/sdk/error.h"

namespace nereid_backend {

// What a model makes of the sums of its leaves, with the operations and in the types of the library
// that made it.
enum class TransformKind : uint8_t {
  kNone,
  kSigmoid,          // of each output
  kSoftmax,          // over the outputs
  kSoftmaxOfFloats,  // the same, with exponents and their sum rounded to floats
  kExp,              // of each output
  kExp2,             // of each output: 2^(-x / ratio)
  kStep,             // 1 above 0, otherwise 0
  kSignedSquare,     // the sign stays
  kLogOfExp,         // log(1 + exp(x))
};

struct Transform {
  TransformKind kind = TransformKind::kNone;
  double steepness = 1;  // of the sigmoid
  // The greatest exponent in the sigmoid.
  double most_exponent = std::numeric_limits<double>::infinity();
  double ratio = 1;
  bool predicts_classes = false;  // the library's prediction is the class

  // In place: the scores of one row.
  void Apply(float* sums, size_t outputs) const;
  void Apply(double* sums, size_t outputs) const;
};

// The greatest float below `threshold`, for "x < threshold".
float BelowThreshold(double threshold);
// The greatest float that is not above `threshold`, for "x <= threshold".
float RoundedDown(double threshold);

// A split as a reader finds it. A child of 0 or more is a split, one below 0 the leaf ~child.
struct Split {
  float threshold = 0;  // x <= threshold goes left
  int64_t feature = 0;
  int64_t left = 0;
  int64_t right = 0;
  bool nan_goes_left = false;
  // Zeros (to 1e-35) count as missing, and go where NaN goes.
  bool zero_is_missing = false;
  // For a split by categories: those that go left; the others, and what is no category, go right.
  bool by_category = false;
  std::vector<uint32_t> categories = {};  // bit i of the words: category i
};

class Forest {
 public:
  static constexpr int64_t kMostFeatures = int64_t{1} << 28;
  static constexpr int64_t kMostOutputs = 100'000;

  // INVALID_ARG if a model cannot have so many features or outputs.
  static Result<Forest> Create(int64_t features, int64_t outputs);

  // Adds a tree whose root is the split 0, or the leaf 0 if there is no split, to the sum `output`.
  // Splits and leaves that the root does not reach are left out. INVALID_ARG if it is not a tree.
  Error AddTree(std::span<const Split> splits, std::span<const double> leaves, int64_t output);
  // The same for a tree whose leaves hold outputs() values each, one after the other in `leaves`.
  Error AddVectorTree(std::span<const Split> splits, std::span<const double> leaves);

  size_t features() const { return features_; }
  size_t outputs() const { return outputs_; }
  size_t trees() const { return trees_.size(); }

  // What the sums start with; one per output.
  std::vector<double> base;
  // The base is added last, as a double, instead.
  bool base_is_last = false;
  // Sums are floats and not doubles.
  bool sums_floats = true;
  // What the sums are divided by (an average over trees), one per output; empty: they are not.
  std::vector<double> divisors;
  // What is above -1 and below 0 is category 0, as for XGBoost and LightGBM.
  bool truncates_to_category = true;
  // The outputs are targets with a value each, and not classes.
  bool has_targets = false;
  Transform transform;

  // Reads `count` rows of features(). Writes what the library predicts, outputs() per row; with
  // `classes` the index of the greatest sum instead, one per row.
  void Scores(const float* rows, size_t count, float* scores) const;
  void Classes(const float* rows, size_t count, float* classes) const;

 private:
  // 16 bytes, so that four share a line of the cache. The children of a split are neighbours. A
  // leaf is a node, too, whose left child it is itself, and everything goes left there.
  struct Node {
    float threshold;
    uint32_t feature;  // and the flags
    uint32_t left;     // the right child follows
    uint32_t value;    // of a leaf: its first value in leaves_; by category: the set
  };
  static constexpr uint32_t kAllOutputs = ~uint32_t{0};
  struct Tree {
    uint32_t root;
    uint32_t depth;
    uint32_t output;   // or kAllOutputs
    bool has_special;  // splits by more than a threshold
  };
  struct CategorySet {
    size_t first;
    size_t words;
  };

  Forest(size_t features, size_t outputs)
      : base(outputs, 0.0), features_(features), outputs_(outputs) {}

  class Packer;
  Error Add(std::span<const Split> splits, std::span<const double> leaves, uint32_t output);
  bool GoesLeftByCategory(const Node& node, float x) const;
  bool GoesLeftBySpecialRule(const Node& node, float x) const;
  template <bool kSpecial>
  uint32_t Next(uint32_t at, const float* row) const;
  template <bool kSpecial, typename RowOf>
  void Descend(uint32_t depth, const RowOf& row_of, uint32_t* at) const;
  template <typename Sum>
  void AddLeaf(const Tree& tree, uint32_t leaf, Sum* sums) const;
  template <typename Sum>
  void AddUpGroup(const Tree& tree, const float* rows, Sum* sums) const;
  template <typename Sum>
  void AddUpRow(const float* row, Sum* sums) const;
  template <typename Sum>
  void AddUp(const float* rows, size_t count, Sum* sums) const;
  template <typename Sum>
  void Finish(size_t count, Sum* sums) const;
  // Calls `use` with the sums of each block of rows.
  template <typename Sum, typename Use>
  void ForBlocks(const float* rows, size_t count, const Use& use) const;
  template <typename Use>
  void ForSums(const float* rows, size_t count, const Use& use) const;

  size_t features_;
  size_t outputs_;
  bool has_special_ = false;  // a tree has
  std::vector<Tree> trees_;
  std::vector<Node> nodes_;
  std::vector<double> leaves_;
  std::vector<CategorySet> sets_;
  std::vector<uint32_t> words_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_FIL_FOREST_H_
