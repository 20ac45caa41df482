// SPDX-License-Identifier: Apache-2.0
#include "backends/fil/xgboost.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/fil/categories.h"
#include "backends/fil/ubjson.h"
#include "backends/sdk/document_events.h"

namespace nereid_backend {
namespace {

constexpr size_t kMostDepth = 64;
constexpr double kMostExponent = 88.7;  // XGBoost's in the sigmoid; the result of exp stays finite
constexpr std::string_view kBooster = "/learner/gradient_booster";

using Numbers = std::vector<double>;

// A tree as the file has it: parallel arrays.
struct FileTree {
  Numbers left, right, feature, default_left, split_type;
  std::vector<float> condition;  // the threshold of a split, the value of a leaf
  // If leaves hold several values: those of leaf i are the part i, and right_children of a leaf is
  // i.
  std::vector<float> leaf_vectors;
  Numbers categories, category_nodes, category_starts, category_sizes;
  bool has_vectors = false;  // leaves hold several values
};

// The parts of a model that count.
struct FileModel {
  std::string booster, objective, base_score;
  std::map<std::string, std::string, std::less<>> parameters;  // learner_model_param
  Numbers classes;                                             // tree_info; or the targets
  std::vector<float> weights;                                  // of dart: one per tree
  std::vector<FileTree> trees;
};

// Collects a FileModel from the events of a document.
class Collector final : public DocumentEvents {
 public:
  bool OnKey(std::string_view key) override {
    key_ = key;
    return true;
  }

  bool OnString(std::string_view text) override {
    const std::string_view path = Path();
    if (path == kBooster && key_ == "name") model_.booster = text;
    if (path == "/learner/objective" && key_ == "name") model_.objective = text;
    if (path == "/learner/learner_model_param") model_.parameters[key_] = text;
    if (PathInModel() == "/trees//tree_param" && key_ == "size_leaf_vector") {
      model_.trees.back().has_vectors = text != "1" && text != "0";
    }
    return true;
  }

  bool OnNumber(const DocumentNumber& number) override {
    if (floats_ != nullptr) floats_->push_back(number.single);
    if (numbers_ != nullptr) numbers_->push_back(number.value);
    return true;
  }

  bool OnOpen(bool is_object) override {
    if (lengths_.size() >= kMostDepth) return false;
    lengths_.push_back(path_.size());
    // The first has no name; the elements of an array have none either.
    if (lengths_.size() > 1) path_ += '/' + key_;
    key_.clear();
    numbers_ = nullptr;
    floats_ = nullptr;
    if (is_object && PathInModel() == "/trees/") model_.trees.emplace_back();
    if (!is_object) ChooseTarget();
    return true;
  }

  bool OnClose() override {
    path_.resize(lengths_.back());
    lengths_.pop_back();
    key_.clear();
    numbers_ = nullptr;
    floats_ = nullptr;
    return true;
  }

  FileModel Take() { return std::move(model_); }

 private:
  std::string_view Path() const { return path_; }

  // Below the member "model" of gbtree, which dart holds as a member; empty elsewhere.
  std::string_view PathInModel() const {
    std::string_view path = path_;
    if (!path.starts_with(kBooster)) return "";
    path.remove_prefix(kBooster.size());
    for (const std::string_view model : {"/model/", "/gbtree/model/"}) {
      if (path.starts_with(model)) return path.substr(model.size() - 1);
    }
    return "";
  }

  void ChooseTarget() {
    if (Path() == "/learner/gradient_booster/weight_drop") floats_ = &model_.weights;
    std::string_view path = PathInModel();
    if (path == "/tree_info") numbers_ = &model_.classes;
    if (!path.starts_with("/trees//") || model_.trees.empty()) return;
    path.remove_prefix(std::string_view("/trees//").size());
    FileTree& tree = model_.trees.back();
    const std::pair<std::string_view, Numbers*> targets[] = {
        {"left_children", &tree.left},
        {"right_children", &tree.right},
        {"split_indices", &tree.feature},
        {"default_left", &tree.default_left},
        {"split_type", &tree.split_type},
        {"categories", &tree.categories},
        {"categories_nodes", &tree.category_nodes},
        {"categories_segments", &tree.category_starts},
        {"categories_sizes", &tree.category_sizes}};
    for (const auto& [name, target] : targets) {
      if (path == name) numbers_ = target;
    }
    if (path == "split_conditions") floats_ = &tree.condition;
    if (path == "leaf_weights") floats_ = &tree.leaf_vectors;
  }

  FileModel model_;
  std::string path_;             // of the innermost container
  std::vector<size_t> lengths_;  // of path_ around each open container
  std::string key_;              // of the next value in an object
  Numbers* numbers_ = nullptr;   // where the numbers of the innermost array go
  std::vector<float>* floats_ = nullptr;
};

// What an objective means for the scores, and for the base score.
struct Objective {
  std::string_view name;
  TransformKind transform = TransformKind::kNone;
  enum Base { kMargin, kProbability, kPositive } base = kMargin;
  bool predicts_classes = false;
};

constexpr Objective kObjectives[] = {
    {"reg:squarederror"},
    {"reg:linear"},
    {"reg:squaredlogerror"},
    {"reg:pseudohubererror"},
    {"reg:absoluteerror"},
    {"reg:quantileerror"},
    {"reg:logistic", TransformKind::kSigmoid, Objective::kProbability},
    {"binary:logistic", TransformKind::kSigmoid, Objective::kProbability},
    {"binary:logitraw"},
    {"binary:hinge", TransformKind::kStep, Objective::kMargin, true},
    {"count:poisson", TransformKind::kExp, Objective::kPositive},
    {"reg:gamma", TransformKind::kExp, Objective::kPositive},
    {"reg:tweedie", TransformKind::kExp, Objective::kPositive},
    {"survival:cox", TransformKind::kExp, Objective::kPositive},
    {"survival:aft", TransformKind::kExp, Objective::kPositive},
    {"multi:softprob", TransformKind::kSoftmax},
    {"multi:softmax", TransformKind::kSoftmax, Objective::kMargin, true},
    {"rank:pairwise"},
    {"rank:ndcg"},
    {"rank:map"},
};

float Margin(Objective::Base base, float score) {
  switch (base) {
    case Objective::kProbability:
      return -std::log(1.0f / score - 1.0f);
    case Objective::kPositive:
      return std::log(score);
    case Objective::kMargin:
      break;
  }
  return score;
}

// A member of learner_model_param, which are all texts.
Result<int64_t> Parameter(const FileModel& model, std::string_view name, int64_t fallback) {
  const auto found = model.parameters.find(name);
  if (found == model.parameters.end()) return fallback;
  const std::string& text = found->second;
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, value);
  if (at == end && code == std::errc()) return value;
  return Error::InvalidArg(StrCat("its ", name, " is '", text, "', which is not a whole number"));
}

// "5E-1" or, since XGBoost 3.1, "[5E-1,1E0]".
Result<std::vector<float>> BaseScores(const FileModel& model) {
  const auto found = model.parameters.find("base_score");
  const std::string text = found == model.parameters.end() ? "0.5" : found->second;
  std::string_view rest = text;
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  std::vector<float> scores;
  while (true) {
    float value = 0;
    const auto [at, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    rest.remove_prefix(at - rest.data());
    const bool good = code == std::errc() && std::isfinite(value);
    if (!good || (!rest.empty() && rest[0] != ',')) {
      return Error::InvalidArg(
          StrCat("its base_score is '", text, "', which is neither a number nor a list of them"));
    }
    scores.push_back(value);
    if (rest.empty()) return scores;
    rest.remove_prefix(1);
  }
}

Error CheckSizes(const FileTree& tree) {
  const size_t nodes = tree.left.size();
  const std::pair<const char*, size_t> sizes[] = {{"right_children", tree.right.size()},
                                                  {"split_indices", tree.feature.size()},
                                                  {"split_conditions", tree.condition.size()},
                                                  {"default_left", tree.default_left.size()}};
  if (nodes == 0) return Error::InvalidArg("it has no left_children");
  for (const auto& [name, size] : sizes) {
    if (size == nodes) continue;
    return Error::InvalidArg(StrCat("it has ", nodes, " left_children and ", size, " ", name,
                                    "; both have one per node"));
  }
  if (!tree.split_type.empty() && tree.split_type.size() != nodes) {
    return Error::InvalidArg(StrCat("it has ", nodes, " left_children and ", tree.split_type.size(),
                                    " elements in split_type; both have one per node"));
  }
  return Error();
}

// A whole number out of a file's number; -1 for what is none or far out of range.
int64_t ToIndex(double value) {
  return value >= 0 && value <= 4e9 && value == std::floor(value) ? static_cast<int64_t>(value)
                                                                  : -1;
}

// Those that go left: in the file, the listed ones go right.
Error ReadCategories(const FileTree& tree, CategorySets* sets, std::vector<Split>* splits) {
  const size_t count = tree.category_nodes.size();
  if (tree.category_starts.size() != count || tree.category_sizes.size() != count) {
    return Error::InvalidArg(
        "its categories_nodes, categories_segments and categories_sizes differ in length");
  }
  for (size_t i = 0; i < count; ++i) {
    const int64_t node = ToIndex(tree.category_nodes[i]);
    const int64_t start = ToIndex(tree.category_starts[i]);
    const int64_t size = ToIndex(tree.category_sizes[i]);
    const auto categories = static_cast<int64_t>(tree.categories.size());
    if (node < 0 || node >= static_cast<int64_t>(splits->size()) || start < 0 || size < 0 ||
        start + size > categories) {
      return Error::InvalidArg(StrCat("entry ", i, " of its categories_nodes is out of range"));
    }
    for (int64_t k = start; k < start + size; ++k) {
      NB_RETURN_IF_ERROR(sets->Add(ToIndex(tree.categories[k]), &(*splits)[node].categories));
    }
  }
  return Error();
}

// The values of the leaves; `width` for each.
Result<std::vector<double>> Leaves(const FileTree& tree, float weight, size_t width) {
  const std::vector<float>& values = tree.has_vectors ? tree.leaf_vectors : tree.condition;
  if (tree.has_vectors && values.empty()) {
    return Error::Unsupported(
        "its leaves hold several values and it has no leaf_weights; save the model with XGBoost "
        "3.2");
  }
  if (values.size() % width != 0) {
    return Error::InvalidArg(
        StrCat("it has ", values.size(), " leaf_weights, and ", width, " belong to each leaf"));
  }
  std::vector<double> leaves(values.size());
  std::transform(values.begin(), values.end(), leaves.begin(),
                 [weight](float value) { return double{value * weight}; });
  return leaves;
}

// Node i becomes split i, or a leaf if it has no left child: leaf i, or the one that its right
// child names.
class Children {
 public:
  explicit Children(const FileTree& tree)
      : tree_(tree), nodes_(static_cast<int64_t>(tree.left.size())) {}

  bool IsLeaf(size_t node) const { return tree_.left[node] < 0; }

  // The child as a Split names it; none that exists, if the file's does not.
  int64_t Place(double child) const {
    const int64_t index = ToIndex(child);
    if (index < 0 || index >= nodes_) return nodes_;
    if (!IsLeaf(index)) return index;
    if (!tree_.has_vectors) return ~index;
    const int64_t leaf = ToIndex(tree_.right[index]);
    return leaf < 0 ? nodes_ : ~leaf;
  }

 private:
  const FileTree& tree_;
  const int64_t nodes_;
};

Result<std::vector<Split>> MakeSplits(const FileTree& tree, CategorySets* sets) {
  const Children children(tree);
  if (children.IsLeaf(0)) return std::vector<Split>();
  std::vector<Split> splits(tree.left.size());
  for (size_t i = 0; i < splits.size(); ++i) {
    if (children.IsLeaf(i)) continue;
    Split& split = splits[i];
    split.feature = ToIndex(tree.feature[i]);
    split.left = children.Place(tree.left[i]);
    split.right = children.Place(tree.right[i]);
    split.nan_goes_left = tree.default_left[i] != 0;
    split.threshold = BelowThreshold(tree.condition[i]);
    split.by_category = !tree.split_type.empty() && tree.split_type[i] == 1;
    if (!split.by_category) continue;
    // The set of a Split goes left.
    std::swap(split.left, split.right);
    split.nan_goes_left = !split.nan_goes_left;
  }
  NB_RETURN_IF_ERROR(ReadCategories(tree, sets, &splits));
  return splits;
}

Error AddTree(const FileTree& tree, int64_t output, float weight, CategorySets* sets,
              Forest* forest) {
  NB_RETURN_IF_ERROR(CheckSizes(tree));
  const size_t width = tree.has_vectors ? forest->outputs() : 1;
  NB_ASSIGN_OR_RETURN(const std::vector<double> leaves, Leaves(tree, weight, width));
  NB_ASSIGN_OR_RETURN(const std::vector<Split> splits, MakeSplits(tree, sets));
  if (tree.has_vectors) return forest->AddVectorTree(splits, leaves);
  return forest->AddTree(splits, leaves, output);
}

Result<Objective> FindObjective(const FileModel& model) {
  const auto* const found =
      std::find_if(std::begin(kObjectives), std::end(kObjectives),
                   [&](const Objective& one) { return one.name == model.objective; });
  if (found != std::end(kObjectives)) return *found;
  return Error::Unsupported(
      StrCat("its objective is '", model.objective, "', which this backend does not know"));
}

Error CheckKind(const FileModel& model) {
  if (model.booster.empty() || model.objective.empty() || model.parameters.empty()) {
    return Error::InvalidArg(
        "it has no learner with gradient_booster, objective and learner_model_param, as XGBoost "
        "writes them");
  }
  if (model.booster == "gblinear") {
    return Error::Unsupported(
        "its booster is gblinear, a linear model; this backend serves trees, so train with gbtree "
        "or serve the linear model as ONNX");
  }
  if (model.booster != "gbtree" && model.booster != "dart") {
    return Error::Unsupported(
        StrCat("its booster is '", model.booster, "'; only gbtree and dart are served"));
  }
  return Error();
}

// One value per class, or per target.
Result<Forest> MakeEmptyForest(const FileModel& model) {
  NB_ASSIGN_OR_RETURN(const int64_t features, Parameter(model, "num_feature", 0));
  NB_ASSIGN_OR_RETURN(const int64_t classes, Parameter(model, "num_class", 0));
  NB_ASSIGN_OR_RETURN(const int64_t targets, Parameter(model, "num_target", 1));
  if (classes > 1 && targets > 1) {
    return Error::InvalidArg(StrCat("it has ", classes, " classes and ", targets,
                                    " targets; a model has one or the other"));
  }
  const int64_t outputs = targets > 1 ? targets : (classes == 0 ? 1 : classes);
  NB_ASSIGN_OR_RETURN(Forest forest, Forest::Create(features, outputs));
  forest.has_targets = targets > 1;
  return forest;
}

Error SetBase(const FileModel& model, Objective::Base kind, Forest* forest) {
  NB_ASSIGN_OR_RETURN(const std::vector<float> scores, BaseScores(model));
  if (scores.size() != 1 && scores.size() != forest->outputs()) {
    return Error::InvalidArg(StrCat("it has ", scores.size(), " numbers in base_score and ",
                                    forest->outputs(), " classes"));
  }
  for (size_t i = 0; i < forest->outputs(); ++i) {
    forest->base[i] = Margin(kind, scores[scores.size() == 1 ? 0 : i]);
    if (!std::isnan(forest->base[i])) continue;
    return Error::InvalidArg(
        StrCat("its base_score does not suit its objective '", model.objective, "'"));
  }
  return Error();
}

Error AddTrees(const FileModel& model, Forest* forest) {
  const size_t trees = model.trees.size();
  if (model.classes.size() != trees) {
    return Error::InvalidArg(
        StrCat("it has ", trees, " trees and ", model.classes.size(), " elements in tree_info"));
  }
  const bool has_weights = model.booster == "dart";
  if (has_weights && model.weights.size() != trees) {
    return Error::InvalidArg(
        StrCat("it has ", trees, " trees and ", model.weights.size(), " elements in weight_drop"));
  }
  CategorySets sets;
  for (size_t i = 0; i < trees; ++i) {
    const float weight = has_weights ? model.weights[i] : 1.0f;
    const Error error = AddTree(model.trees[i], ToIndex(model.classes[i]), weight, &sets, forest);
    if (error.ok()) continue;
    return Error(error.code(), StrCat("its tree ", i, " cannot be read: ", error.message()));
  }
  return Error();
}

Result<Forest> MakeForest(const FileModel& model) {
  NB_RETURN_IF_ERROR(CheckKind(model));
  NB_ASSIGN_OR_RETURN(const Objective objective, FindObjective(model));
  NB_ASSIGN_OR_RETURN(Forest forest, MakeEmptyForest(model));
  forest.transform.kind = objective.transform;
  forest.transform.most_exponent = kMostExponent;
  forest.transform.predicts_classes = objective.predicts_classes && !forest.has_targets;
  NB_RETURN_IF_ERROR(SetBase(model, objective.base, &forest));
  NB_RETURN_IF_ERROR(AddTrees(model, &forest));
  return forest;
}

}  // namespace

Result<Forest> ReadXgboostJson(std::string_view bytes) {
  Collector collector;
  const Error error = ReadJsonDocument(bytes, &collector);
  if (error.ok()) return MakeForest(collector.Take());
  return Error::InvalidArg(StrCat("it is not JSON of XGBoost: ", error.message()));
}

Result<Forest> ReadXgboostUbjson(std::string_view bytes) {
  Collector collector;
  const Error error = ReadUbjson(bytes, &collector);
  if (error.ok()) return MakeForest(collector.Take());
  return Error::InvalidArg(StrCat("it is not UBJSON of XGBoost: ", error.message()));
}

}  // namespace nereid_backend
