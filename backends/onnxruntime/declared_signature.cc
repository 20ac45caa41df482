// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/declared_signature.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "backends/onnxruntime/wire_file.h"

namespace nereid_backend {
namespace {

constexpr size_t kMostTensors = 64 << 10;  // inputs, and outputs

bool ReadDim(WireFile* file, const WireField& bytes, ModelTensor* tensor) {
  int64_t value = -1;
  std::string name;
  WireMessage message(file, bytes);
  WireField field;
  bool read = true;
  while (read && message.Next(&field)) {
    if (field.number == kDimValue && field.kind == WireField::Kind::kVarint) {
      value = static_cast<int64_t>(field.value);
    } else if (field.number == kDimName && field.kind == WireField::Kind::kBytes) {
      read = ReadText(file, field, &name);
    }
  }
  const bool first = tensor->dims.empty();
  tensor->dims.push_back(std::max<int64_t>(value, -1));
  if (first && value < 0) tensor->first_name = MeaningfulName(name);
  return read && !message.damaged();
}

bool ReadTensorType(WireFile* file, const WireField& bytes, ModelTensor* tensor) {
  return ForEachField(file, bytes, [&](const WireField& field) {
    if (field.number != kTensorTypeShape) return true;
    return ForEachField(file, field, [&](const WireField& dim) {
      return dim.number != kShapeDim || ReadDim(file, dim, tensor);
    });
  });
}

bool ReadValue(WireFile* file, const WireField& bytes, ModelTensor* tensor) {
  tensor->is_tensor = false;
  return ForEachField(file, bytes, [&](const WireField& field) {
    if (field.number == kValueName) return ReadText(file, field, &tensor->name);
    if (field.number != kValueType) return true;
    return ForEachField(file, field, [&](const WireField& type) {
      if (type.number != kTypeTensor) return true;
      tensor->is_tensor = true;
      return ReadTensorType(file, type, tensor);
    });
  });
}

bool ReadTensorName(WireFile* file, const WireField& bytes, std::set<std::string>* names) {
  return ForEachField(file, bytes, [&](const WireField& field) {
    if (field.number != kTensorName) return true;
    std::string name;
    const bool read = ReadText(file, field, &name);
    names->insert(std::move(name));
    return read;
  });
}

bool ReadGraph(WireFile* file, const WireField& bytes, Signature* signature) {
  std::vector<ModelTensor> inputs;
  std::set<std::string> initialized;
  const bool read = ForEachField(file, bytes, [&](const WireField& field) {
    switch (field.number) {
      case kGraphInput:
        return inputs.size() < kMostTensors && ReadValue(file, field, &inputs.emplace_back());
      case kGraphOutput:
        return signature->outputs.size() < kMostTensors &&
               ReadValue(file, field, &signature->outputs.emplace_back());
      case kGraphInitializer:
        return ReadTensorName(file, field, &initialized);
      case kGraphSparseInitializer:
        return ForEachField(file, field, [&](const WireField& part) {
          return part.number != kSparseValues || ReadTensorName(file, part, &initialized);
        });
      default:
        return true;
    }
  });
  for (ModelTensor& input : inputs) {
    const bool defaulted = initialized.count(input.name) > 0;
    (defaulted ? signature->defaulted : signature->inputs).push_back(std::move(input));
  }
  return read;
}

}  // namespace

std::string MeaningfulName(const std::string& name) {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  const std::string_view stem = std::string_view(name).substr(0, digits);
  constexpr std::string_view kAxes = "_dynamic_axes_";
  const bool generated =
      stem == "unk__" || stem == "DynamicDimension." ||
      (stem.size() > kAxes.size() && stem.substr(stem.size() - kAxes.size()) == kAxes);
  return generated && digits < name.size() ? "" : name;
}

std::optional<Signature> ReadDeclaredSignature(const std::string& path) {
  WireFile file(path);
  WireField model;
  model.end = file.size();
  Signature signature;
  bool has_graph = false;
  const bool read = ForEachField(&file, model, [&](const WireField& field) {
    if (field.number != kModelGraph) return true;
    has_graph = true;
    return ReadGraph(&file, field, &signature);
  });
  if (!read || !has_graph) return std::nullopt;
  return signature;
}

}  // namespace nereid_backend
