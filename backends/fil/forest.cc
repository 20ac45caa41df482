// SPDX-License-Identifier: Apache-2.0
#include "backends/fil/forest.h"

#include <algorithm>
#include <bit>
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

  // The packed index of the root.
  Result<int32_t> Pack() {
    NB_ASSIGN_OR_RETURN(const int32_t root, Place(splits_.empty() ? ~int64_t{0} : 0));
    while (!open_.empty()) {
      const Open next = open_.back();
      open_.pop_back();
      // The left child is placed last, so that it follows its parent.
      NB_ASSIGN_OR_RETURN(const int32_t right, Place(splits_[next.split].right));
      NB_ASSIGN_OR_RETURN(const int32_t left, Place(splits_[next.split].left));
      forest_.nodes_[next.node].left = left;
      forest_.nodes_[next.node].right = right;
    }
    return root;
  }

 private:
  struct Open {
    size_t split;
    size_t node;
  };

  Result<int32_t> Place(int64_t child) { return child < 0 ? PlaceLeaf(~child) : PlaceSplit(child); }

  Result<int32_t> PlaceLeaf(int64_t leaf) {
    const size_t count = leaves_.size() / width_;
    if (leaf >= static_cast<int64_t>(count)) {
      return Error::InvalidArg(StrCat("a split leads to leaf ", leaf, ", and there are ", count));
    }
    const size_t first = forest_.leaves_.size();
    const auto values = leaves_.subspan(leaf * width_, width_);
    forest_.leaves_.insert(forest_.leaves_.end(), values.begin(), values.end());
    return ~static_cast<int32_t>(first);
  }

  Result<int32_t> PlaceSplit(int64_t index) {
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
    const size_t node = forest_.nodes_.size();
    forest_.nodes_.push_back(Packed(split));
    open_.push_back({static_cast<size_t>(index), node});
    return static_cast<int32_t>(node);
  }

  Node Packed(const Split& split) {
    Node node{split.threshold, static_cast<uint32_t>(split.feature), 0, 0};
    if (split.nan_goes_left) node.feature |= kNanGoesLeft;
    if (split.zero_is_missing) node.feature |= kZeroIsMissing;
    if (!split.by_category) return node;
    node.feature |= kByCategory;
    node.threshold = std::bit_cast<float>(static_cast<uint32_t>(forest_.sets_.size()));
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
  constexpr size_t kMostNodes = size_t{1} << 30;
  if (nodes_.size() + splits.size() > kMostNodes || leaves_.size() + leaves.size() > kMostNodes) {
    return Error::Unsupported(StrCat("the model has more than ", kMostNodes, " nodes"));
  }
  const size_t width = output == kAllOutputs ? outputs_ : 1;
  NB_ASSIGN_OR_RETURN(const int32_t root, Packer(this, splits, leaves, width).Pack());
  trees_.push_back({root, output});
  return Error();
}

bool Forest::GoesLeftByCategory(const Node& node, float x) const {
  if (!(x > -1.0f && x < kNoCategory) || (x < 0 && !truncates_to_category)) return false;
  const auto category = static_cast<uint32_t>(std::max(x, 0.0f));
  const CategorySet& set = sets_[std::bit_cast<uint32_t>(node.threshold)];
  const size_t word = category / 32;
  return word < set.words && ((words_[set.first + word] >> (category % 32)) & 1) != 0;
}

int32_t Forest::NextBySpecialRule(const Node& node, float x) const {
  bool left = false;
  if (std::isnan(x) ||
      ((node.feature & kZeroIsMissing) != 0 && x > -kZeroRange && x <= kZeroRange)) {
    left = (node.feature & kNanGoesLeft) != 0;
  } else if ((node.feature & kByCategory) != 0) {
    left = GoesLeftByCategory(node, x);
  } else {
    left = x <= node.threshold;
  }
  return left ? node.left : node.right;
}

inline int32_t Forest::Next(const Node& node, const float* row) const {
  const float x = row[node.feature & kFeatureMask];
  if (std::isnan(x) || (node.feature & (kZeroIsMissing | kByCategory)) != 0) [[unlikely]] {
    return NextBySpecialRule(node, x);
  }
  return x <= node.threshold ? node.left : node.right;
}

template <typename Sum>
void Forest::AddUp(const float* rows, size_t count, Sum* sums) const {
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < outputs_; ++k) {
      sums[i * outputs_ + k] = base_is_last ? 0 : static_cast<Sum>(base[k]);
    }
  }
  for (const Tree& tree : trees_) {
    const bool to_all = tree.output == kAllOutputs;
    const size_t first = to_all ? 0 : tree.output;
    const size_t width = to_all ? outputs_ : 1;
    for (size_t i = 0; i < count; ++i) {
      int32_t at = tree.root;
      while (at >= 0) at = Next(nodes_[at], rows + i * features_);
      Sum* const to = sums + i * outputs_ + first;
      for (size_t k = 0; k < width; ++k) to[k] += static_cast<Sum>(leaves_[~at + k]);
    }
  }
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
