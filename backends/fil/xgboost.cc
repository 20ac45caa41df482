// SPDX-License-Identifier: Apache-2.0
#include "backends/fil/xgboost.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/fil/ubjson.h"
#include "backends/sdk/document_events.h"

namespace nereid_backend {
namespace {

constexpr size_t kMostDepth = 64;
constexpr std::string_view kModel = "/learner/gradient_booster/model";

using Numbers = std::vector<double>;

// A tree as the file has it: parallel arrays.
struct FileTree {
  Numbers left, right, feature, default_left, split_type;
  std::vector<float> condition;  // the threshold of a split, the value of a leaf
  Numbers categories, category_nodes, category_starts, category_sizes;
  bool has_vectors = false;  // leaves hold several values
};

// The parts of a model that count.
struct FileModel {
  std::string booster, objective, base_score;
  std::map<std::string, std::string, std::less<>> parameters;  // learner_model_param
  Numbers classes;                                             // tree_info
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
    if (path == "/learner/gradient_booster" && key_ == "name") model_.booster = text;
    if (path == "/learner/objective" && key_ == "name") model_.objective = text;
    if (path == "/learner/learner_model_param") model_.parameters[key_] = text;
    if (path == "/learner/gradient_booster/model/trees//tree_param" && key_ == "size_leaf_vector") {
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
    if (is_object && Path() == std::string(kModel) + "/trees/") model_.trees.emplace_back();
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

  void ChooseTarget() {
    std::string_view path = path_;
    if (!path.starts_with(kModel)) return;
    path.remove_prefix(kModel.size());
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
Error ReadCategories(const FileTree& tree, std::vector<Split>* splits) {
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
    Split& split = (*splits)[node];
    for (int64_t k = start; k < start + size; ++k) {
      const int64_t category = ToIndex(tree.categories[k]);
      if (category < 0 || category >= int64_t{1} << 24) {
        return Error::InvalidArg(
            StrCat("its category ", tree.categories[k], " is not a whole number from 0 to 2^24"));
      }
      const auto word = static_cast<size_t>(category / 32);
      if (split.categories.size() <= word) split.categories.resize(word + 1);
      split.categories[word] |= uint32_t{1} << (category % 32);
    }
  }
  return Error();
}

// Node i becomes split i, or leaf i if it has no left child.
Error AddTree(const FileTree& tree, int64_t output, Forest* forest) {
  if (tree.has_vectors) {
    return Error::Unsupported(
        "its leaves hold several values; train with multi_strategy=one_output_per_tree");
  }
  NB_RETURN_IF_ERROR(CheckSizes(tree));
  const size_t nodes = tree.left.size();
  const auto place = [&](double child) -> int64_t {
    const int64_t index = ToIndex(child);
    if (index < 0 || index >= static_cast<int64_t>(nodes)) return static_cast<int64_t>(nodes);
    return tree.left[index] < 0 ? ~index : index;
  };
  const std::vector<double> leaves(tree.condition.begin(), tree.condition.end());
  if (tree.left[0] < 0) return forest->AddTree({}, leaves, output);
  std::vector<Split> splits(nodes);
  for (size_t i = 0; i < nodes; ++i) {
    if (tree.left[i] < 0) continue;
    Split& split = splits[i];
    split.feature = ToIndex(tree.feature[i]);
    split.left = place(tree.left[i]);
    split.right = place(tree.right[i]);
    split.nan_goes_left = tree.default_left[i] != 0;
    split.threshold = BelowThreshold(tree.condition[i]);
    split.by_category = !tree.split_type.empty() && tree.split_type[i] == 1;
    if (!split.by_category) continue;
    // The set of a Split goes left.
    std::swap(split.left, split.right);
    split.nan_goes_left = !split.nan_goes_left;
  }
  NB_RETURN_IF_ERROR(ReadCategories(tree, &splits));
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
  if (model.booster != "gbtree") {
    return Error::Unsupported(
        StrCat("its booster is '", model.booster, "'; only gbtree is served"));
  }
  NB_ASSIGN_OR_RETURN(const int64_t targets, Parameter(model, "num_target", 1));
  if (targets <= 1) return Error();
  return Error::Unsupported(StrCat("it predicts ", targets,
                                   " targets; only models with one target are served, so train one "
                                   "for each"));
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

Result<Forest> MakeForest(const FileModel& model) {
  NB_RETURN_IF_ERROR(CheckKind(model));
  NB_ASSIGN_OR_RETURN(const Objective objective, FindObjective(model));
  NB_ASSIGN_OR_RETURN(const int64_t features, Parameter(model, "num_feature", 0));
  NB_ASSIGN_OR_RETURN(const int64_t classes, Parameter(model, "num_class", 0));
  NB_ASSIGN_OR_RETURN(Forest forest, Forest::Create(features, classes == 0 ? 1 : classes));
  forest.transform.kind = objective.transform;
  forest.transform.predicts_classes = objective.predicts_classes;
  NB_RETURN_IF_ERROR(SetBase(model, objective.base, &forest));
  if (model.classes.size() != model.trees.size()) {
    return Error::InvalidArg(StrCat("it has ", model.trees.size(), " trees and ",
                                    model.classes.size(), " elements in tree_info"));
  }
  for (size_t i = 0; i < model.trees.size(); ++i) {
    const Error error = AddTree(model.trees[i], ToIndex(model.classes[i]), &forest);
    if (error.ok()) continue;
    return Error(error.code(), StrCat("its tree ", i, " cannot be read: ", error.message()));
  }
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
