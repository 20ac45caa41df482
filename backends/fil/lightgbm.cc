// SPDX-License-Identifier: Apache-2.0
#include "backends/fil/lightgbm.h"

#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid_backend {
namespace {

// Bits of a decision_type; bits 2 and 3 are what counts as missing.
constexpr int64_t kCategorical = 1;
constexpr int64_t kDefaultLeft = 2;
enum Missing : int64_t { kNothing = 0, kZero = 1, kNan = 2 };

// Lines "key=value" (or "key") up to an empty one.
using Section = std::map<std::string_view, std::string_view, std::less<>>;

// Takes text from `rest` up to `end`, which is taken too.
std::string_view TakeUntil(char end, std::string_view* rest) {
  const size_t at = rest->find(end);
  std::string_view taken = rest->substr(0, at);
  rest->remove_prefix(at == std::string_view::npos ? rest->size() : at + 1);
  return taken;
}

std::string_view TakeLine(std::string_view* rest) {
  std::string_view line = TakeUntil('\n', rest);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Section TakeSection(std::string_view* rest) {
  Section section;
  while (!rest->empty()) {
    std::string_view line = TakeLine(rest);
    if (line.empty()) break;
    const std::string_view key = TakeUntil('=', &line);
    section[key] = line;
  }
  return section;
}

template <typename T>
std::optional<T> ToNumber(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, value);
  if (at != end || code != std::errc()) return std::nullopt;
  return value;
}

// The numbers of `key`; none if it is not there.
template <typename T>
Result<std::vector<T>> Numbers(const Section& section, std::string_view key) {
  std::vector<T> numbers;
  const auto found = section.find(key);
  if (found == section.end()) return numbers;
  std::string_view rest = found->second;
  while (!rest.empty()) {
    const std::string_view word = TakeUntil(' ', &rest);
    if (word.empty()) continue;
    const std::optional<T> number = ToNumber<T>(word);
    if (!number.has_value()) {
      return Error::InvalidArg(StrCat("its ", key, " holds '", word.substr(0, 40),
                                      "', which is not a number of its kind"));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

Result<int64_t> WholeNumber(const Section& section, std::string_view key,
                            std::optional<int64_t> fallback = std::nullopt) {
  const auto found = section.find(key);
  if (found == section.end()) {
    if (fallback.has_value()) return *fallback;
    return Error::InvalidArg(StrCat("it has no ", key));
  }
  const std::optional<int64_t> number = ToNumber<int64_t>(found->second);
  if (number.has_value()) return *number;
  return Error::InvalidArg(
      StrCat("its ", key, " is '", found->second.substr(0, 40), "', which is not a whole number"));
}

// What a tree's section holds: arrays with an element per split, or per leaf.
struct FileTree {
  std::vector<int64_t> feature, decision, left, right;
  std::vector<double> threshold, leaves;
  std::vector<int64_t> category_bounds;
  std::vector<uint32_t> category_words;

  static Result<FileTree> Read(const Section& section);
  // The split `i` for Forest.
  Result<Split> SplitAt(size_t i) const;
  Error SetCategories(size_t i, Split* split) const;
};

Result<FileTree> FileTree::Read(const Section& section) {
  NB_ASSIGN_OR_RETURN(const int64_t linear, WholeNumber(section, "is_linear", 0));
  if (linear != 0) {
    return Error::Unsupported("its leaves hold linear models; train without linear_tree");
  }
  FileTree tree;
  NB_ASSIGN_OR_RETURN(const int64_t leaves, WholeNumber(section, "num_leaves"));
  NB_ASSIGN_OR_RETURN(tree.feature, Numbers<int64_t>(section, "split_feature"));
  NB_ASSIGN_OR_RETURN(tree.decision, Numbers<int64_t>(section, "decision_type"));
  NB_ASSIGN_OR_RETURN(tree.left, Numbers<int64_t>(section, "left_child"));
  NB_ASSIGN_OR_RETURN(tree.right, Numbers<int64_t>(section, "right_child"));
  NB_ASSIGN_OR_RETURN(tree.threshold, Numbers<double>(section, "threshold"));
  NB_ASSIGN_OR_RETURN(tree.leaves, Numbers<double>(section, "leaf_value"));
  NB_ASSIGN_OR_RETURN(tree.category_bounds, Numbers<int64_t>(section, "cat_boundaries"));
  NB_ASSIGN_OR_RETURN(tree.category_words, Numbers<uint32_t>(section, "cat_threshold"));
  if (tree.leaves.empty()) return Error::InvalidArg("it has no leaf_value");
  const std::pair<const char*, size_t> sizes[] = {
      {"split_feature", tree.feature.size()}, {"decision_type", tree.decision.size()},
      {"left_child", tree.left.size()},       {"right_child", tree.right.size()},
      {"threshold", tree.threshold.size()},   {"leaf_value", tree.leaves.size() - 1}};
  for (const auto& [key, size] : sizes) {
    if (static_cast<int64_t>(size) == leaves - 1) continue;
    return Error::InvalidArg(StrCat("its num_leaves is ", leaves, ", and its ", key,
                                    " does not have the number of elements that goes with it"));
  }
  return tree;
}

Error FileTree::SetCategories(size_t i, Split* split) const {
  split->by_category = true;
  split->nan_goes_left = false;
  const double set = threshold[i];
  if (!(set >= 0 && set + 1 < static_cast<double>(category_bounds.size()))) {
    return Error::InvalidArg(StrCat("split ", i, " has no set of categories"));
  }
  const int64_t first = category_bounds[static_cast<size_t>(set)];
  const int64_t last = category_bounds[static_cast<size_t>(set) + 1];
  if (first < 0 || last < first || last > static_cast<int64_t>(category_words.size())) {
    return Error::InvalidArg(StrCat("the categories of split ", i, " are not in cat_threshold"));
  }
  split->categories.assign(category_words.begin() + first, category_words.begin() + last);
  return Error();
}

Result<Split> FileTree::SplitAt(size_t i) const {
  Split split;
  split.feature = feature[i];
  split.left = left[i];
  split.right = right[i];
  if ((decision[i] & kCategorical) != 0) {
    NB_RETURN_IF_ERROR(SetCategories(i, &split));
    return split;
  }
  const int64_t missing = (decision[i] >> 2) & 3;
  split.threshold = RoundedDown(threshold[i]);
  split.zero_is_missing = missing == kZero;
  // Where NaN is not expected, it counts as zero.
  split.nan_goes_left = missing == kNothing ? 0 <= threshold[i] : (decision[i] & kDefaultLeft) != 0;
  return split;
}

Error AddTree(const Section& section, int64_t output, Forest* forest) {
  NB_ASSIGN_OR_RETURN(const FileTree tree, FileTree::Read(section));
  std::vector<Split> splits;
  splits.reserve(tree.feature.size());
  for (size_t i = 0; i < tree.feature.size(); ++i) {
    NB_ASSIGN_OR_RETURN(Split split, tree.SplitAt(i));
    splits.push_back(std::move(split));
  }
  return forest->AddTree(splits, tree.leaves, output);
}

constexpr std::pair<std::string_view, TransformKind> kObjectives[] = {
    {"regression", TransformKind::kNone},
    {"regression_l1", TransformKind::kNone},
    {"huber", TransformKind::kNone},
    {"fair", TransformKind::kNone},
    {"quantile", TransformKind::kNone},
    {"mape", TransformKind::kNone},
    {"poisson", TransformKind::kExp},
    {"gamma", TransformKind::kExp},
    {"tweedie", TransformKind::kExp},
    {"binary", TransformKind::kSigmoid},
    {"multiclass", TransformKind::kSoftmax},
    {"multiclassova", TransformKind::kSigmoid},
    {"cross_entropy", TransformKind::kSigmoid},
    {"cross_entropy_lambda", TransformKind::kLogOfExp},
    {"lambdarank", TransformKind::kNone},
    {"rank_xendcg", TransformKind::kNone},
    {"custom", TransformKind::kNone},
};

// "binary sigmoid:1"; a model of an objective of the author's own has none.
Result<Transform> ReadObjective(const Section& header) {
  Transform transform;
  const auto found = header.find("objective");
  if (found == header.end()) return transform;
  std::string_view rest = found->second;
  const std::string_view name = TakeUntil(' ', &rest);
  bool known = false;
  for (const auto& [objective, kind] : kObjectives) {
    if (objective != name) continue;
    transform.kind = kind;
    known = true;
  }
  while (known && !rest.empty()) {
    const std::string_view word = TakeUntil(' ', &rest);
    if (word == "sqrt") transform.kind = TransformKind::kSignedSquare;
    if (!word.starts_with("sigmoid:")) continue;
    const auto steepness = ToNumber<double>(word.substr(word.find(':') + 1));
    known = steepness.has_value();
    transform.steepness = steepness.value_or(0);
  }
  if (known) return transform;
  return Error::Unsupported(StrCat("its objective is '", found->second.substr(0, 80),
                                   "', which this backend does not know"));
}

Result<Forest> ReadHeader(const Section& header) {
  NB_ASSIGN_OR_RETURN(const int64_t last_feature, WholeNumber(header, "max_feature_idx"));
  NB_ASSIGN_OR_RETURN(const int64_t outputs, WholeNumber(header, "num_tree_per_iteration"));
  if (last_feature < 0 || last_feature >= Forest::kMostFeatures) {
    return Error::InvalidArg(StrCat("its max_feature_idx is ", last_feature, "; 0 to ",
                                    Forest::kMostFeatures - 1, " are possible"));
  }
  NB_ASSIGN_OR_RETURN(Forest forest, Forest::Create(last_feature + 1, outputs));
  NB_ASSIGN_OR_RETURN(forest.transform, ReadObjective(header));
  forest.sums_floats = false;
  return forest;
}

bool IsEnd(const Section& section) {
  return section.contains("end of trees") || section.contains("feature_importances:") ||
         section.contains("feature importances:");
}

}  // namespace

Result<Forest> ReadLightgbm(std::string_view text) {
  std::string_view rest = text;
  const Section header = TakeSection(&rest);
  if (!header.contains("tree")) {
    return Error::InvalidArg("it does not begin with a line 'tree', as LightGBM writes it");
  }
  NB_ASSIGN_OR_RETURN(Forest forest, ReadHeader(header));
  const auto outputs = static_cast<int64_t>(forest.outputs());
  int64_t trees = 0;
  bool ended = false;
  while (!rest.empty() && !ended) {
    const Section section = TakeSection(&rest);
    ended = IsEnd(section);
    if (ended || section.empty()) continue;
    const Error error = section.contains("Tree")
                            ? AddTree(section, trees % outputs, &forest)
                            : Error::InvalidArg("its section has no line 'Tree='");
    if (!error.ok()) {
      return Error(error.code(), StrCat("its tree ", trees, " cannot be read: ", error.message()));
    }
    ++trees;
  }
  if (!ended) return Error::InvalidArg("it ends before the line 'end of trees'");
  if (trees == 0 || trees % outputs != 0) {
    return Error::InvalidArg(
        StrCat("it has ", trees, " trees, and ", outputs, " for each iteration"));
  }
  if (header.contains("average_output")) {
    forest.divisors.assign(forest.outputs(),
                           static_cast<double>(trees) / static_cast<double>(outputs));
  }
  return forest;
}

}  // namespace nereid_backend
