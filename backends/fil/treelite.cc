// SPDX-License-Identifier: Apache-2.0
#include "backends/fil/treelite.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/fil/categories.h"

namespace nereid_backend {
namespace {

enum class ValueType : uint8_t { kFloat = 2, kDouble = 3 };
enum class NodeType : int8_t { kLeaf = 0, kNumber = 1, kCategory = 2 };
enum class Comparison : int8_t { kEqual = 1, kBelow = 2, kAtMost = 3, kAbove = 4, kAtLeast = 5 };

// Takes fields from the front of the file: scalars, and arrays, which are a count and elements. All
// little-endian.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  Error Take(const char* name, T* value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (rest_.size() < sizeof(T)) return TooShort(name);
    std::memcpy(value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return Error();
  }

  // Any container of trivial elements.
  template <typename Container>
  Error TakeArray(const char* name, Container* values) {
    constexpr size_t kSize = sizeof(typename Container::value_type);
    NB_ASSIGN_OR_RETURN(const size_t count, TakeCount(name, kSize));
    values->resize(count);
    // The array may be empty, and have no address.
    if (count > 0) std::memcpy(values->data(), rest_.data(), count * kSize);
    rest_.remove_prefix(count * kSize);
    return Error();
  }

  template <typename Container>
  Error TakeArray(const char* name, size_t count, Container* values) {
    NB_RETURN_IF_ERROR(TakeArray(name, values));
    if (values->size() == count) return Error();
    return Error::InvalidArg(
        StrCat("its ", name, " has ", values->size(), " elements and not ", count));
  }

  Error SkipArray(const char* name, size_t size) {
    NB_ASSIGN_OR_RETURN(const size_t count, TakeCount(name, size));
    rest_.remove_prefix(count * size);
    return Error();
  }

  // There is a place for fields of versions to come.
  Error TakeNoMoreFields(const char* where) {
    int32_t count = 0;
    NB_RETURN_IF_ERROR(Take(where, &count));
    if (count == 0) return Error();
    return Error::Unsupported(StrCat("it has ", count, " ", where,
                                     ", which no Treelite up to 4.8 writes; save it with one"));
  }

  bool empty() const { return rest_.empty(); }

 private:
  static Error TooShort(const char* name) {
    return Error::InvalidArg(StrCat("it ends before the end of its ", name));
  }

  Result<size_t> TakeCount(const char* name, size_t size) {
    uint64_t count = 0;
    NB_RETURN_IF_ERROR(Take(name, &count));
    if (count > rest_.size() / size) return TooShort(name);
    return static_cast<size_t>(count);
  }

  std::string_view rest_;
};

// What comes before the trees.
struct Header {
  ValueType type = ValueType::kFloat;
  uint64_t trees = 0;
  int32_t features = 0;
  uint8_t averages = 0;
  uint32_t targets = 0;
  uint32_t classes = 0;  // of the target with the most
  std::vector<uint32_t> leaf_shape;
  std::vector<int32_t> target_of, class_of;  // one per tree; -1: all
  std::string postprocessor;
  float sigmoid_alpha = 1;
  float ratio = 1;
  std::vector<double> base;
};

Error TakeVersion(Fields* fields) {
  int32_t major = 0, minor = 0, patch = 0;
  NB_RETURN_IF_ERROR(fields->Take("version", &major));
  NB_RETURN_IF_ERROR(fields->Take("version", &minor));
  NB_RETURN_IF_ERROR(fields->Take("version", &patch));
  if (major == 4) return Error();
  if (major == 3 && minor >= 0 && minor < 100) {
    return Error::Unsupported(
        "it is a checkpoint of Treelite 3; load it with Treelite 4 and save it again");
  }
  return Error::InvalidArg("it does not begin with the version 4, as Treelite 4 writes it");
}

Error TakeType(Fields* fields, Header* header) {
  uint8_t thresholds = 0, leaves = 0;
  NB_RETURN_IF_ERROR(fields->Take("threshold_type", &thresholds));
  NB_RETURN_IF_ERROR(fields->Take("leaf_output_type", &leaves));
  header->type = static_cast<ValueType>(thresholds);
  const bool known = header->type == ValueType::kFloat || header->type == ValueType::kDouble;
  if (known && thresholds == leaves) return Error();
  return Error::InvalidArg(StrCat("its threshold_type is ", int{thresholds},
                                  " and its leaf_output_type ", int{leaves},
                                  "; both are 2 (float) or 3 (double)"));
}

Error TakeShape(Fields* fields, Header* header) {
  uint8_t task = 0;
  std::vector<uint32_t> classes;
  NB_RETURN_IF_ERROR(fields->Take("num_tree", &header->trees));
  NB_RETURN_IF_ERROR(fields->Take("num_feature", &header->features));
  NB_RETURN_IF_ERROR(fields->Take("task_type", &task));
  NB_RETURN_IF_ERROR(fields->Take("average_tree_output", &header->averages));
  NB_RETURN_IF_ERROR(fields->Take("num_target", &header->targets));
  NB_RETURN_IF_ERROR(fields->TakeArray("num_class", header->targets, &classes));
  NB_RETURN_IF_ERROR(fields->TakeArray("leaf_vector_shape", 2, &header->leaf_shape));
  if (classes.empty()) return Error::InvalidArg("its num_target is 0");
  header->classes = *std::max_element(classes.begin(), classes.end());
  if (header->targets == 1 || header->classes == 1) return Error();
  return Error::Unsupported(StrCat("it predicts ", header->targets, " targets with up to ",
                                   header->classes, " classes; train a model for each target"));
}

Result<Header> TakeHeader(Fields* fields) {
  Header header;
  std::string attributes;
  NB_RETURN_IF_ERROR(TakeVersion(fields));
  NB_RETURN_IF_ERROR(TakeType(fields, &header));
  NB_RETURN_IF_ERROR(TakeShape(fields, &header));
  NB_RETURN_IF_ERROR(fields->TakeArray("target_id", header.trees, &header.target_of));
  NB_RETURN_IF_ERROR(fields->TakeArray("class_id", header.trees, &header.class_of));
  NB_RETURN_IF_ERROR(fields->TakeArray("postprocessor", &header.postprocessor));
  NB_RETURN_IF_ERROR(fields->Take("sigmoid_alpha", &header.sigmoid_alpha));
  NB_RETURN_IF_ERROR(fields->Take("ratio_c", &header.ratio));
  NB_RETURN_IF_ERROR(
      fields->TakeArray("base_scores", size_t{header.targets} * header.classes, &header.base));
  NB_RETURN_IF_ERROR(fields->TakeArray("attributes", &attributes));
  NB_RETURN_IF_ERROR(fields->TakeNoMoreFields("optional fields"));
  return header;
}

// A tree as the file has it: parallel arrays, with an element per node.
template <typename Value>
struct FileTree {
  std::vector<NodeType> type;
  std::vector<int32_t> left, right, feature;
  std::vector<uint8_t> default_left, listed_go_right;
  std::vector<Value> leaf, threshold;
  std::vector<Comparison> comparison;
  // Leaf vectors and lists of categories: of the node i, the elements from begin[i] to end[i].
  std::vector<Value> vectors;
  std::vector<uint64_t> vector_begin, vector_end;
  std::vector<uint32_t> categories;
  std::vector<uint64_t> category_begin, category_end;
};

// What the training saw at each node.
Error SkipStatistics(Fields* fields) {
  for (const char* const name : {"data_count", "sum_hess", "gain"}) {
    NB_RETURN_IF_ERROR(fields->SkipArray(name, sizeof(uint64_t)));
    NB_RETURN_IF_ERROR(fields->SkipArray(name, sizeof(uint8_t)));
  }
  NB_RETURN_IF_ERROR(fields->TakeNoMoreFields("optional fields of trees"));
  return fields->TakeNoMoreFields("optional fields of nodes");
}

template <typename Value>
Result<FileTree<Value>> TakeTree(Fields* fields) {
  FileTree<Value> tree;
  int32_t count = 0;
  uint8_t has_categories = 0;
  NB_RETURN_IF_ERROR(fields->Take("num_nodes", &count));
  NB_RETURN_IF_ERROR(fields->Take("has_categorical_split", &has_categories));
  if (count < 1) return Error::InvalidArg(StrCat("its num_nodes is ", count));
  const auto nodes = static_cast<size_t>(count);
  NB_RETURN_IF_ERROR(fields->TakeArray("node_type", nodes, &tree.type));
  NB_RETURN_IF_ERROR(fields->TakeArray("cleft", nodes, &tree.left));
  NB_RETURN_IF_ERROR(fields->TakeArray("cright", nodes, &tree.right));
  NB_RETURN_IF_ERROR(fields->TakeArray("split_index", nodes, &tree.feature));
  NB_RETURN_IF_ERROR(fields->TakeArray("default_left", nodes, &tree.default_left));
  NB_RETURN_IF_ERROR(fields->TakeArray("leaf_value", nodes, &tree.leaf));
  NB_RETURN_IF_ERROR(fields->TakeArray("threshold", nodes, &tree.threshold));
  NB_RETURN_IF_ERROR(fields->TakeArray("cmp", nodes, &tree.comparison));
  NB_RETURN_IF_ERROR(fields->TakeArray("category_list_right_child", nodes, &tree.listed_go_right));
  NB_RETURN_IF_ERROR(fields->TakeArray("leaf_vector", &tree.vectors));
  NB_RETURN_IF_ERROR(fields->TakeArray("leaf_vector_begin", nodes, &tree.vector_begin));
  NB_RETURN_IF_ERROR(fields->TakeArray("leaf_vector_end", nodes, &tree.vector_end));
  NB_RETURN_IF_ERROR(fields->TakeArray("category_list", &tree.categories));
  NB_RETURN_IF_ERROR(fields->TakeArray("category_list_begin", nodes, &tree.category_begin));
  NB_RETURN_IF_ERROR(fields->TakeArray("category_list_end", nodes, &tree.category_end));
  NB_RETURN_IF_ERROR(SkipStatistics(fields));
  return tree;
}

// Makes trees of a Forest from those of the file.
template <typename Value>
class TreeMaker {
 public:
  TreeMaker(const FileTree<Value>& tree, size_t width, CategorySets* sets)
      : tree_(tree), width_(width), sets_(*sets) {}

  // Node i becomes split i, or a leaf.
  Error Make() {
    NB_RETURN_IF_ERROR(CollectLeaves());
    // A tree that is one leaf has no splits.
    if (tree_.type[0] == NodeType::kLeaf) return Error();
    splits_.resize(tree_.type.size());
    for (size_t i = 0; i < splits_.size(); ++i) {
      if (tree_.type[i] == NodeType::kLeaf) continue;
      NB_RETURN_IF_ERROR(MakeSplit(i, &splits_[i]));
    }
    return Error();
  }

  const std::vector<Split>& splits() const { return splits_; }
  const std::vector<double>& leaves() const { return leaves_; }

 private:
  // Gives each leaf its number, and appends its values.
  Error CollectLeaves() {
    leaf_of_.resize(tree_.type.size());
    for (size_t i = 0; i < leaf_of_.size(); ++i) {
      if ((tree_.type[i] == NodeType::kLeaf) != (tree_.left[i] == -1)) {
        return Error::InvalidArg(
            StrCat("its node_type and its cleft differ in whether node ", i, " is a leaf"));
      }
      if (tree_.type[i] != NodeType::kLeaf) continue;
      leaf_of_[i] = static_cast<int64_t>(leaves_.size() / width_);
      if (width_ == 1) {
        leaves_.push_back(tree_.leaf[i]);
      } else {
        NB_RETURN_IF_ERROR(CollectVector(i));
      }
    }
    return Error();
  }

  Error CollectVector(size_t node) {
    const uint64_t begin = tree_.vector_begin[node], end = tree_.vector_end[node];
    if (begin > end || end > tree_.vectors.size() || end - begin != width_) {
      return Error::InvalidArg(
          StrCat("its leaf_vector does not have ", width_, " values for node ", node));
    }
    // Leaves that share values would make a small file a large forest.
    if (leaves_.size() + width_ > tree_.vectors.size()) {
      return Error::InvalidArg(
          StrCat("its leaf_vector has ", tree_.vectors.size(), " values, too few for its leaves"));
    }
    const auto from = tree_.vectors.begin() + static_cast<ptrdiff_t>(begin);
    leaves_.insert(leaves_.end(), from, from + static_cast<ptrdiff_t>(width_));
    return Error();
  }

  // The child as a Split names it; none that exists, if the file's does not.
  int64_t Child(int32_t node) const {
    const auto count = static_cast<int64_t>(tree_.type.size());
    if (node < 0 || node >= count) return count;
    return tree_.type[node] == NodeType::kLeaf ? ~leaf_of_[node] : node;
  }

  Error MakeSplit(size_t i, Split* split) {
    split->feature = tree_.feature[i];
    split->left = Child(tree_.left[i]);
    split->right = Child(tree_.right[i]);
    split->nan_goes_left = tree_.default_left[i] != 0;
    bool swaps = false;
    switch (tree_.type[i]) {
      case NodeType::kNumber:
        NB_RETURN_IF_ERROR(SetThreshold(i, split, &swaps));
        break;
      case NodeType::kCategory:
        NB_RETURN_IF_ERROR(SetCategories(i, split));
        swaps = tree_.listed_go_right[i] != 0;
        break;
      default:
        return Error::InvalidArg(StrCat("its node_type of node ", i, " is ",
                                        static_cast<int>(tree_.type[i]), "; 0 to 2 are possible"));
    }
    if (!swaps) return Error();
    std::swap(split->left, split->right);
    split->nan_goes_left = !split->nan_goes_left;
    return Error();
  }

  // What is above goes left in the file and right in a Split.
  Error SetThreshold(size_t i, Split* split, bool* swaps) const {
    const Comparison comparison = tree_.comparison[i];
    switch (comparison) {
      case Comparison::kBelow:
      case Comparison::kAtLeast:
        split->threshold = BelowThreshold(tree_.threshold[i]);
        break;
      case Comparison::kAtMost:
      case Comparison::kAbove:
        split->threshold = RoundedDown(tree_.threshold[i]);
        break;
      case Comparison::kEqual:
        return Error::Unsupported(
            StrCat("node ", i, " compares by '=='; use '<', '<=', '>' or '>='"));
      default:
        return Error::InvalidArg(StrCat("its cmp of node ", i, " is ", static_cast<int>(comparison),
                                        "; 1 to 5 are possible"));
    }
    *swaps = comparison == Comparison::kAbove || comparison == Comparison::kAtLeast;
    return Error();
  }

  Error SetCategories(size_t i, Split* split) {
    split->by_category = true;
    const uint64_t begin = tree_.category_begin[i], end = tree_.category_end[i];
    if (begin > end || end > tree_.categories.size()) {
      return Error::InvalidArg(StrCat("the categories of node ", i, " are not in category_list"));
    }
    listed_ += end - begin;
    if (listed_ > tree_.categories.size()) {
      return Error::InvalidArg(StrCat("its category_list has ", tree_.categories.size(),
                                      " categories, too few for its nodes"));
    }
    for (uint64_t k = begin; k < end; ++k) {
      NB_RETURN_IF_ERROR(sets_.Add(tree_.categories[k], &split->categories));
    }
    return Error();
  }

  const FileTree<Value>& tree_;
  const size_t width_;
  CategorySets& sets_;
  std::vector<int64_t> leaf_of_;
  std::vector<Split> splits_;
  std::vector<double> leaves_;
  uint64_t listed_ = 0;
};

// The output that a tree adds to; -1 for all.
Result<int64_t> OutputOf(const Header& header, size_t tree) {
  const int64_t target = header.target_of[tree], klass = header.class_of[tree];
  const uint64_t width = uint64_t{header.leaf_shape[0]} * header.leaf_shape[1];
  const bool all_targets = header.targets == 1 || target == -1;
  const bool all_classes = header.classes == 1 || klass == -1;
  const bool in_range =
      target >= -1 && target < header.targets && klass >= -1 && klass < header.classes;
  const bool to_one = (target >= 0 || header.targets == 1) && (klass >= 0 || header.classes == 1);
  if (in_range && to_one && width == 1) {
    return std::max<int64_t>(target, 0) * header.classes + std::max<int64_t>(klass, 0);
  }
  if (in_range && all_targets && all_classes && width == header.base.size()) return -1;
  return Error::InvalidArg(StrCat("its target_id is ", target, " and its class_id ", klass,
                                  ", which does not go with leaves of ", header.leaf_shape[0],
                                  " x ", header.leaf_shape[1], " values"));
}

template <typename Value>
Error TakeTreeInto(const Header& header, size_t number, Fields* fields, CategorySets* sets,
                   Forest* forest) {
  NB_ASSIGN_OR_RETURN(const int64_t output, OutputOf(header, number));
  NB_ASSIGN_OR_RETURN(const FileTree<Value> tree, TakeTree<Value>(fields));
  TreeMaker<Value> maker(tree, output < 0 ? forest->outputs() : 1, sets);
  NB_RETURN_IF_ERROR(maker.Make());
  for (size_t k = 0; k < forest->divisors.size(); ++k) {
    if (output < 0 || k == static_cast<size_t>(output)) forest->divisors[k] += 1;
  }
  if (output < 0) return forest->AddVectorTree(maker.splits(), maker.leaves());
  return forest->AddTree(maker.splits(), maker.leaves(), output);
}

template <typename Value>
Error TakeTrees(const Header& header, Fields* fields, Forest* forest) {
  CategorySets sets;
  for (size_t i = 0; i < header.trees; ++i) {
    const Error error = TakeTreeInto<Value>(header, i, fields, &sets, forest);
    if (error.ok()) continue;
    return Error(error.code(), StrCat("its tree ", i, " cannot be read: ", error.message()));
  }
  return Error();
}

constexpr std::pair<std::string_view, TransformKind> kPostprocessors[] = {
    {"identity", TransformKind::kNone},
    {"identity_multiclass", TransformKind::kNone},
    {"signed_square", TransformKind::kSignedSquare},
    {"hinge", TransformKind::kStep},
    {"sigmoid", TransformKind::kSigmoid},
    {"multiclass_ova", TransformKind::kSigmoid},
    {"exponential", TransformKind::kExp},
    {"exponential_standard_ratio", TransformKind::kExp2},
    {"logarithm_one_plus_exp", TransformKind::kLogOfExp},
    {"softmax", TransformKind::kSoftmaxOfFloats},
};

Result<Transform> MakeTransform(const Header& header) {
  const auto* const found =
      std::find_if(std::begin(kPostprocessors), std::end(kPostprocessors),
                   [&](const auto& one) { return one.first == header.postprocessor; });
  if (found == std::end(kPostprocessors)) {
    return Error::Unsupported(StrCat("its postprocessor is '", header.postprocessor.substr(0, 80),
                                     "', which this backend does not know"));
  }
  Transform transform;
  transform.kind = found->second;
  transform.steepness = header.sigmoid_alpha;
  transform.ratio = header.ratio;
  transform.predicts_classes = transform.kind == TransformKind::kStep && header.base.size() == 1;
  if (transform.kind != TransformKind::kSoftmaxOfFloats || header.targets == 1) return transform;
  return Error::Unsupported(
      StrCat("its postprocessor is softmax, and it has ", header.targets, " targets"));
}

}  // namespace

Result<Forest> ReadTreelite(std::string_view bytes) {
  Fields fields(bytes);
  NB_ASSIGN_OR_RETURN(Header header, TakeHeader(&fields));
  NB_ASSIGN_OR_RETURN(Forest forest,
                      Forest::Create(header.features, static_cast<int64_t>(header.base.size())));
  NB_ASSIGN_OR_RETURN(forest.transform, MakeTransform(header));
  const bool floats = header.type == ValueType::kFloat;
  forest.sums_floats = floats;
  forest.base = header.base;
  forest.base_is_last = true;
  forest.truncates_to_category = false;
  forest.has_targets = header.targets > 1;
  if (header.averages) forest.divisors.assign(forest.outputs(), 0);
  NB_RETURN_IF_ERROR(floats ? TakeTrees<float>(header, &fields, &forest)
                            : TakeTrees<double>(header, &fields, &forest));
  if (!fields.empty()) return Error::InvalidArg("it goes on after its last tree");
  return forest;
}

}  // namespace nereid_backend
