// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/worker/meta_graph.h"

#include <algorithm>
#include <charconv>

#include "backends/tensorflow/worker/proto_reader.h"

namespace nereid_tensorflow {
namespace {

// Field numbers of TensorFlow's meta_graph.proto and tensor_shape.proto.
namespace meta_graph_def {
constexpr uint32_t kSignatureDef = 5;
}
namespace signature_def {
constexpr uint32_t kInputs = 1;
constexpr uint32_t kOutputs = 2;
}  // namespace signature_def
namespace tensor_info {
constexpr uint32_t kName = 1;
constexpr uint32_t kType = 2;
constexpr uint32_t kShape = 3;
}  // namespace tensor_info
namespace tensor_shape {
constexpr uint32_t kDim = 2;
constexpr uint32_t kDimSize = 1;
constexpr uint32_t kUnknownRank = 3;
}  // namespace tensor_shape
namespace map_entry {
constexpr uint32_t kKey = 1;
constexpr uint32_t kValue = 2;
}  // namespace map_entry

constexpr std::string_view kDefaultSignature = "serving_default";
constexpr std::string_view kNotForServing[] = {"__saved_model_init_op", "__saved_model_train_op"};

bool ReadMapEntry(std::string_view bytes, std::string* key, std::string_view* value) {
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == map_entry::kKey) *key = reader.bytes();
    if (reader.number() == map_entry::kValue) *value = reader.bytes();
  }
  return reader.ok();
}

bool ReadDim(std::string_view bytes, int64_t* size) {
  *size = 0;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == tensor_shape::kDimSize) *size = static_cast<int64_t>(reader.varint());
  }
  *size = std::max<int64_t>(*size, -1);
  return reader.ok();
}

bool ReadShape(std::string_view bytes, TensorDescription* tensor) {
  tensor->rank_known = true;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == tensor_shape::kDim) {
      tensor->dims.push_back(0);
      if (!ReadDim(reader.bytes(), &tensor->dims.back())) return false;
    }
    if (reader.number() == tensor_shape::kUnknownRank && reader.varint() != 0) {
      tensor->rank_known = false;
    }
  }
  if (!tensor->rank_known) tensor->dims.clear();
  return reader.ok();
}

bool ReadTensorInfo(std::string_view bytes, SignatureTensor* tensor) {
  tensor->description.rank_known = false;
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == tensor_info::kName) tensor->graph_tensor = reader.bytes();
    if (reader.number() == tensor_info::kType) {
      tensor->description.type = static_cast<int32_t>(reader.varint());
    }
    if (reader.number() == tensor_info::kShape &&
        !ReadShape(reader.bytes(), &tensor->description)) {
      return false;
    }
  }
  // Sparse and composite tensors have no name of their own; only their parts have names.
  if (tensor->graph_tensor.empty()) tensor->description.type = 0;
  return reader.ok();
}

bool ReadTensor(std::string_view bytes, std::vector<SignatureTensor>* tensors) {
  SignatureTensor tensor;
  std::string_view info;
  if (!ReadMapEntry(bytes, &tensor.description.name, &info)) return false;
  if (!ReadTensorInfo(info, &tensor)) return false;
  tensors->push_back(std::move(tensor));
  return true;
}

bool ReadSignature(std::string_view bytes, SignatureDef* signature) {
  std::string_view body;
  if (!ReadMapEntry(bytes, &signature->name, &body)) return false;
  ProtoReader reader(body);
  while (reader.Next()) {
    if (reader.number() == signature_def::kInputs &&
        !ReadTensor(reader.bytes(), &signature->inputs)) {
      return false;
    }
    if (reader.number() == signature_def::kOutputs &&
        !ReadTensor(reader.bytes(), &signature->outputs)) {
      return false;
    }
  }
  // Sorted, because a protobuf map has no order.
  const auto by_name = [](const SignatureTensor& a, const SignatureTensor& b) {
    return a.description.name < b.description.name;
  };
  std::sort(signature->inputs.begin(), signature->inputs.end(), by_name);
  std::sort(signature->outputs.begin(), signature->outputs.end(), by_name);
  return reader.ok();
}

bool IsForServing(const SignatureDef& signature) {
  return std::find(std::begin(kNotForServing), std::end(kNotForServing), signature.name) ==
         std::end(kNotForServing);
}

}  // namespace

bool ReadSignatures(std::string_view meta_graph, std::vector<SignatureDef>* signatures) {
  ProtoReader reader(meta_graph);
  while (reader.Next()) {
    if (reader.number() != meta_graph_def::kSignatureDef) continue;
    SignatureDef signature;
    if (!ReadSignature(reader.bytes(), &signature)) return false;
    signatures->push_back(std::move(signature));
  }
  std::sort(signatures->begin(), signatures->end(),
            [](const SignatureDef& a, const SignatureDef& b) { return a.name < b.name; });
  return reader.ok();
}

Status ChooseSignature(const std::vector<SignatureDef>& signatures, std::string_view wanted,
                       const SignatureDef** chosen) {
  std::vector<const SignatureDef*> serving;
  std::string names;
  *chosen = nullptr;
  for (const SignatureDef& signature : signatures) {
    if (!IsForServing(signature)) continue;
    serving.push_back(&signature);
    names += (names.empty() ? "'" : ", '") + signature.name + "'";
    if (signature.name == (wanted.empty() ? kDefaultSignature : wanted)) *chosen = &signature;
  }
  if (*chosen != nullptr) return {};
  if (wanted.empty() && serving.size() == 1) {
    *chosen = serving[0];
    return {};
  }
  const std::string have = names.empty() ? "it has no signature" : "it has the signatures " + names;
  if (!wanted.empty()) {
    return Status::NotFound("the SavedModel has no signature '" + std::string(wanted) +
                            "', which the parameter TF_SIGNATURE_DEF names; " + have);
  }
  return Status::InvalidArgument("the SavedModel has no signature '" +
                                 std::string(kDefaultSignature) + "'; " + have +
                                 (names.empty() ? "" : ": name one by TF_SIGNATURE_DEF"));
}

bool ParseTensorName(std::string_view text, std::string* operation, int* index) {
  *index = 0;
  const size_t colon = text.rfind(':');
  *operation = text.substr(0, colon);
  if (colon == std::string_view::npos) return true;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, *index);
  return error == std::errc() && stop == end && *index >= 0;
}

}  // namespace nereid_tensorflow
