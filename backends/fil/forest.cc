// SPDX-License-Identifier: Apache-2.0
#include "backends/fil/forest.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid_backend {
namespace {

// Flags in Node::feature, above the largest index of a feature.
constexpr uint32_t kNanGoesLeft = uint32_t{1} << 31;
constexpr uint32_t kZeroIsMissing = uint32_t{1} << 30;
constexpr uint32_t kByCategory = uint32_t{1} << 29;
constexpr uint32_t kFeatureMask = (uint32_t{1} << 28) - 1;

// Sums of so many values stay in the cache while a tree is evaluated for all rows of a block.
constexpr size_t kBlockSums = 4096;
constexpr size_t kBlockRows = 128;

// So many walks through trees are done together.
constexpr size_t kGroup = 16;
constexpr uint32_t kStepsAtOnce = 4;

constexpr float kZeroRange = 1e-35f;          // LightGBM's
constexpr float kNoCategory = 16'777'216.0f;  // floats are no longer whole numbers one by one

}  // namespace

float BelowThreshold(double threshold) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float rounded = RoundedDown(threshold);
  if (double{rounded} < threshold) return rounded;
  // Nothing is below: a NaN compares as false.
  if (threshold == -kInfinity) return std::numeric_limits<float>::quiet_NaN();
  return std::nextafter(rounded, -kInfinity);
}

float RoundedDown(double threshold) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kMost = std::numeric_limits<float>::max();
  if (threshold >= kMost) return std::isinf(threshold) ? kInfinity : kMost;
  if (threshold < -kMost) return -kInfinity;
  const auto rounded = static_cast<float>(threshold);
  return double{rounded} > threshold ? std::nextafter(rounded, -kInfinity) : rounded;
}

Result<Forest> Forest::Create(int64_t features, int64_t outputs) {
  if (features < 1 || features > kMostFeatures) {
    return Error::InvalidArg(
        StrCat("it has ", features, " features; 1 to ", kMostFeatures, " are possible"));
  }
  if (outputs < 1 || outputs > kMostOutputs) {
    return Error::InvalidArg(
        StrCat("it has ", outputs, " classes; 1 to ", kMostOutputs, " are possible"));
  }
  return Forest(static_cast<size_t>(features), static_cast<size_t>(outputs));
}

// Packs one tree: walks from the root, without recursion, and gives each split and leaf its place.
class Forest::Packer {
 public:
  // Each leaf has `width` values.
  Packer(Forest* forest, std::span<const Split> splits, std::span<const double> leaves,
         size_t width)
      : forest_(*forest), splits_(splits), leaves_(leaves), width_(width), seen_(splits.size()) {}

  Result<Tree> Pack(uint32_t output) {
    Tree tree{static_cast<uint32_t>(forest_.nodes_.size()), 0, output, false};
    forest_.nodes_.emplace_back();
    NB_RETURN_IF_ERROR(Fill(tree.root, splits_.empty() ? ~int64_t{0} : 0, 0));
    while (!open_.empty()) {
      const Open next = open_.back();
      open_.pop_back();
      const auto left = static_cast<uint32_t>(forest_.nodes_.size());
      forest_.nodes_.resize(left + 2);
      forest_.nodes_[next.node].left = left;
      // The left child is filled last, so that its children follow.
      NB_RETURN_IF_ERROR(Fill(left + 1, splits_[next.split].right, next.depth + 1));
      NB_RETURN_IF_ERROR(Fill(left, splits_[next.split].left, next.depth + 1));
    }
    tree.depth = depth_;
    tree.has_special = has_special_;
    return tree;
  }

 private:
  struct Open {
    size_t split;
    uint32_t node;
    uint32_t depth;
  };

  Error Fill(uint32_t node, int64_t child, uint32_t depth) {
    depth_ = std::max(depth_, depth);
    return child < 0 ? FillLeaf(node, ~child) : FillSplit(node, child, depth);
  }

  Error FillLeaf(uint32_t node, int64_t leaf) {
    const size_t count = leaves_.size() / width_;
    if (leaf >= static_cast<int64_t>(count)) {
      return Error::InvalidArg(StrCat("a split leads to leaf ", leaf, ", and there are ", count));
    }
    const auto first = static_cast<uint32_t>(forest_.leaves_.size());
    const auto values = leaves_.subspan(leaf * width_, width_);
    forest_.leaves_.insert(forest_.leaves_.end(), values.begin(), values.end());
    forest_.nodes_[node] = {std::numeric_limits<float>::infinity(), kNanGoesLeft, node, first};
    return Error();
  }

  Error FillSplit(uint32_t node, int64_t index, uint32_t depth) {
    if (index >= static_cast<int64_t>(splits_.size())) {
      return Error::InvalidArg(
          StrCat("a split leads to node ", index, ", and there are ", splits_.size()));
    }
    if (seen_[index]) {
      return Error::InvalidArg(
          StrCat("two splits lead to node ", index, "; a node has one parent"));
    }
    seen_[index] = true;
    const Split& split = splits_[index];
    if (split.feature < 0 || split.feature >= static_cast<int64_t>(forest_.features_)) {
      return Error::InvalidArg(StrCat("node ", index, " splits by feature ", split.feature,
                                      ", and the model has ", forest_.features_));
    }
    forest_.nodes_[node] = Packed(split);
    has_special_ = has_special_ || split.by_category || split.zero_is_missing;
    open_.push_back({static_cast<size_t>(index), node, depth});
    return Error();
  }

  // Without the children.
  Node Packed(const Split& split) {
    Node node{split.threshold, static_cast<uint32_t>(split.feature), 0, 0};
    if (split.nan_goes_left) node.feature |= kNanGoesLeft;
    if (split.zero_is_missing) node.feature |= kZeroIsMissing;
    if (!split.by_category) return node;
    node.feature |= kByCategory;
    node.value = static_cast<uint32_t>(forest_.sets_.size());
    forest_.sets_.push_back({forest_.words_.size(), split.categories.size()});
    forest_.words_.insert(forest_.words_.end(), split.categories.begin(), split.categories.end());
    return node;
  }

  Forest& forest_;
  const std::span<const Split> splits_;
  const std::span<const double> leaves_;
  const size_t width_;
  std::vector<bool> seen_;
  std::vector<Open> open_;
  uint32_t depth_ = 0;
  bool has_special_ = false;
};

Error Forest::AddTree(std::span<const Split> splits, std::span<const double> leaves,
                      int64_t output) {
  if (output < 0 || output >= static_cast<int64_t>(outputs_)) {
    return Error::InvalidArg(
        StrCat("it belongs to class ", output, ", and the model has ", outputs_));
  }
  return Add(splits, leaves, static_cast<uint32_t>(output));
}

Error Forest::AddVectorTree(std::span<const Split> splits, std::span<const double> leaves) {
  return Add(splits, leaves, kAllOutputs);
}

Error Forest::Add(std::span<const Split> splits, std::span<const double> leaves, uint32_t output) {
  // Of the nodes, about half are splits.
  constexpr size_t kMostNodes = size_t{1} << 30;
  if (nodes_.size() / 2 + splits.size() > kMostNodes ||
      leaves_.size() + leaves.size() > kMostNodes) {
    return Error::Unsupported(StrCat("the model has more than ", kMostNodes, " nodes"));
  }
  const size_t width = output == kAllOutputs ? outputs_ : 1;
  NB_ASSIGN_OR_RETURN(const Tree tree, Packer(this, splits, leaves, width).Pack(output));
  trees_.push_back(tree);
  has_special_ = has_special_ || tree.has_special;
  return Error();
}

bool Forest::GoesLeftByCategory(const Node& node, float x) const {
  if (!(x > -1.0f && x < kNoCategory) || (x < 0 && !truncates_to_category)) return false;
  const auto category = static_cast<uint32_t>(std::max(x, 0.0f));
  const CategorySet& set = sets_[node.value];
  const size_t word = category / 32;
  return word < set.words && ((words_[set.first + word] >> (category % 32)) & 1) != 0;
}

bool Forest::GoesLeftBySpecialRule(const Node& node, float x) const {
  if (std::isnan(x) ||
      ((node.feature & kZeroIsMissing) != 0 && x > -kZeroRange && x <= kZeroRange)) {
    return (node.feature & kNanGoesLeft) != 0;
  }
  if ((node.feature & kByCategory) != 0) return GoesLeftByCategory(node, x);
  return x <= node.threshold;
}

// Without branches, unless the tree has splits that need one: which way a row goes is hard to
// predict.
template <bool kSpecial>
inline uint32_t Forest::Next(uint32_t at, const float* row) const {
  const Node& node = nodes_[at];
  const float x = row[node.feature & kFeatureMask];
  if (kSpecial && (node.feature & (kZeroIsMissing | kByCategory)) != 0) {
    return node.left + (GoesLeftBySpecialRule(node, x) ? 0 : 1);
  }
  const auto is_nan = static_cast<uint32_t>(x != x);
  const auto goes_left =
      static_cast<uint32_t>(x <= node.threshold) | (is_nan & (node.feature >> 31));
  return node.left + (goes_left ^ 1);
}

// Takes kGroup walks, each from its node in `at`, to their leaves. The processor does the steps of
// one while it waits for the nodes of another.
template <bool kSpecial, typename RowOf>
inline void Forest::Descend(uint32_t depth, const RowOf& row_of, uint32_t* at) const {
  uint32_t next[kGroup];
  std::copy_n(at, kGroup, next);
  while (depth > 0) {
    const uint32_t steps = std::min(depth, kStepsAtOnce);
    depth -= steps;
    for (uint32_t step = 0; step < steps; ++step) {
      for (size_t i = 0; i < kGroup; ++i) next[i] = Next<kSpecial>(next[i], row_of(i));
    }
    // Most walks of a deep tree end early.
    const auto at_leaf = [this](uint32_t node) { return nodes_[node].left == node; };
    if (depth > 0 && std::all_of(next, next + kGroup, at_leaf)) break;
  }
  std::copy_n(next, kGroup, at);
}

template <typename Sum>
inline void Forest::AddLeaf(const Tree& tree, uint32_t leaf, Sum* sums) const {
  const double* const values = leaves_.data() + nodes_[leaf].value;
  if (tree.output != kAllOutputs) {
    sums[tree.output] += static_cast<Sum>(*values);
    return;
  }
  for (size_t k = 0; k < outputs_; ++k) sums[k] += static_cast<Sum>(values[k]);
}

// One tree for kGroup rows.
template <typename Sum>
void Forest::AddUpGroup(const Tree& tree, const float* rows, Sum* sums) const {
  uint32_t at[kGroup];
  std::fill_n(at, kGroup, tree.root);
  const auto row_of = [&](size_t i) { return rows + i * features_; };
  if (tree.has_special) {
    Descend<true>(tree.depth, row_of, at);
  } else {
    Descend<false>(tree.depth, row_of, at);
  }
  for (size_t i = 0; i < kGroup; ++i) AddLeaf(tree, at[i], sums + i * outputs_);
}

// All trees for one row, kGroup at a time.
template <typename Sum>
void Forest::AddUpRow(const float* row, Sum* sums) const {
  const auto row_of = [&](size_t) { return row; };
  for (size_t first = 0; first < trees_.size(); first += kGroup) {
    const size_t count = std::min(kGroup, trees_.size() - first);
    uint32_t at[kGroup];
    uint32_t depth = 0;
    for (size_t i = 0; i < kGroup; ++i) {
      const Tree& tree = trees_[first + std::min(i, count - 1)];
      at[i] = tree.root;
      depth = std::max(depth, tree.depth);
    }
    if (has_special_) {
      Descend<true>(depth, row_of, at);
    } else {
      Descend<false>(depth, row_of, at);
    }
    for (size_t i = 0; i < count; ++i) AddLeaf(trees_[first + i], at[i], sums);
  }
}

template <typename Sum>
void Forest::AddUp(const float* rows, size_t count, Sum* sums) const {
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < outputs_; ++k) {
      sums[i * outputs_ + k] = base_is_last ? 0 : static_cast<Sum>(base[k]);
    }
  }
  const size_t in_groups = count / kGroup * kGroup;
  for (const Tree& tree : trees_) {
    for (size_t i = 0; i < in_groups; i += kGroup) {
      AddUpGroup(tree, rows + i * features_, sums + i * outputs_);
    }
  }
  for (size_t i = in_groups; i < count; ++i) AddUpRow(rows + i * features_, sums + i * outputs_);
}

template <typename Sum>
void Forest::Finish(size_t count, Sum* sums) const {
  for (size_t i = 0; i < count; ++i, sums += outputs_) {
    for (size_t k = 0; k < outputs_; ++k) {
      if (!divisors.empty()) sums[k] /= static_cast<Sum>(divisors[k]);
      if (base_is_last) sums[k] = static_cast<Sum>(double{sums[k]} + base[k]);
    }
  }
}

template <typename Sum, typename Use>
void Forest::ForBlocks(const float* rows, size_t count, const Use& use) const {
  const size_t block = std::clamp<size_t>(kBlockSums / outputs_, 1, kBlockRows);
  std::vector<Sum> sums(std::min(block, count) * outputs_);
  for (size_t first = 0; first < count; first += block) {
    const size_t size = std::min(block, count - first);
    AddUp(rows + first * features_, size, sums.data());
    if (base_is_last || !divisors.empty()) Finish(size, sums.data());
    for (size_t i = 0; i < size; ++i) use(first + i, sums.data() + i * outputs_);
  }
}

template <typename Use>
void Forest::ForSums(const float* rows, size_t count, const Use& use) const {
  if (sums_floats) return ForBlocks<float>(rows, count, use);
  ForBlocks<double>(rows, count, use);
}

void Forest::Scores(const float* rows, size_t count, float* scores) const {
  ForSums(rows, count, [&](size_t row, auto* sums) {
    transform.Apply(sums, outputs_);
    std::transform(sums, sums + outputs_, scores + row * outputs_,
                   [](auto value) { return static_cast<float>(value); });
  });
}

void Forest::Classes(const float* rows, size_t count, float* classes) const {
  ForSums(rows, count, [&](size_t row, const auto* sums) {
    classes[row] = static_cast<float>(std::max_element(sums, sums + outputs_) - sums);
  });
}

}  // namespace nereid_backend
