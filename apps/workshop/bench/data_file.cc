// SPDX-License-Identifier: Apache-2.0
#include "bench/data_file.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <cmath>
#include <limits>

#include "base/status_macros.h"
#include "bench/tensor_file.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parse.h"

namespace nereid::bench {
namespace {

constexpr int kMostDepth = 100;

absl::Status Bad(absl::string_view input, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("the input ", input, " ", why));
}

template <typename T>
bool AppendNumber(const JsonValue& value, std::string* bytes) {
  T number{};
  if constexpr (std::is_floating_point_v<T>) {
    if (!value.IsNumber()) return false;
    number = static_cast<T>(value.GetDouble());
    if (std::isinf(number) && !std::isinf(value.GetDouble())) return false;
  } else if constexpr (std::is_signed_v<T>) {
    if (!value.IsInt64() || value.GetInt64() < std::numeric_limits<T>::min() ||
        value.GetInt64() > std::numeric_limits<T>::max()) {
      return false;
    }
    number = static_cast<T>(value.GetInt64());
  } else {
    if (!value.IsUint64() || value.GetUint64() > std::numeric_limits<T>::max()) return false;
    number = static_cast<T>(value.GetUint64());
  }
  bytes->append(reinterpret_cast<const char*>(&number), sizeof number);
  return true;
}

bool AppendString(const JsonValue& value, std::string* bytes) {
  if (!value.IsString()) return false;
  const auto length = static_cast<uint32_t>(value.GetStringLength());
  bytes->append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes->append(value.GetString(), length);
  return true;
}

// False for a value that is none of the type, or a type that JSON cannot hold.
bool AppendElement(DataType type, const JsonValue& value, std::string* bytes) {
  switch (type) {
    case DataType::kBool:
      if (!value.IsBool() && !value.IsUint()) return false;
      bytes->push_back(value.IsBool() ? (value.GetBool() ? '\1' : '\0')
                                      : (value.GetUint() != 0 ? '\1' : '\0'));
      return true;
    case DataType::kUint8:
      return AppendNumber<uint8_t>(value, bytes);
    case DataType::kUint16:
      return AppendNumber<uint16_t>(value, bytes);
    case DataType::kUint32:
      return AppendNumber<uint32_t>(value, bytes);
    case DataType::kUint64:
      return AppendNumber<uint64_t>(value, bytes);
    case DataType::kInt8:
      return AppendNumber<int8_t>(value, bytes);
    case DataType::kInt16:
      return AppendNumber<int16_t>(value, bytes);
    case DataType::kInt32:
      return AppendNumber<int32_t>(value, bytes);
    case DataType::kInt64:
      return AppendNumber<int64_t>(value, bytes);
    case DataType::kFp32:
      return AppendNumber<float>(value, bytes);
    case DataType::kFp64:
      return AppendNumber<double>(value, bytes);
    case DataType::kBytes:
      return AppendString(value, bytes);
    default:
      return false;
  }
}

// Nested lists are one flat list. The depth of `list` is limited by the parser.
absl::Status AppendList(const TensorDescription& tensor, const JsonValue& list, DataTensor* to) {
  for (const JsonValue& value : list.GetArray()) {
    if (value.IsArray()) {
      RETURN_IF_ERROR(AppendList(tensor, value, to));
      continue;
    }
    if (!AppendElement(tensor.type, value, &to->bytes)) {
      return Bad(
          tensor.name,
          absl::StrCat("has a value that is not of type ", DataTypeName(tensor.type), " at place ",
                       to->count, "; FP16 and BF16 can only be given as {\"b64\": \"...\"}"));
    }
    ++to->count;
  }
  return absl::OkStatus();
}

absl::Status ReadBase64(const TensorDescription& tensor, const JsonValue& text, DataTensor* to) {
  if (!text.IsString() ||
      !absl::Base64Unescape(absl::string_view(text.GetString(), text.GetStringLength()),
                            &to->bytes)) {
    return Bad(tensor.name, "has a \"b64\" that is not base64");
  }
  const uint32_t size = DataTypeByteSize(tensor.type);
  to->count = size == 0 ? -1 : static_cast<int64_t>(to->bytes.size() / size);
  return absl::OkStatus();
}

absl::StatusOr<DataTensor> ReadTensor(const TensorDescription& tensor, const JsonValue& value) {
  DataTensor read;
  const JsonValue* content = &value;
  if (const JsonValue* const shape = FindMember(value, "shape"); shape != nullptr) {
    if (!shape->IsArray()) return Bad(tensor.name, "has a \"shape\" that is not a list");
    for (const JsonValue& dim : shape->GetArray()) {
      if (!dim.IsInt64() || dim.GetInt64() < 0) {
        return Bad(tensor.name, "has a \"shape\" with an element that is not a size");
      }
      read.shape.push_back(dim.GetInt64());
    }
  }
  if (const JsonValue* const inner = FindMember(value, "content"); inner != nullptr) {
    content = inner;
  }
  if (const JsonValue* const text = FindMember(*content, "b64"); text != nullptr) {
    RETURN_IF_ERROR(ReadBase64(tensor, *text, &read));
  } else if (content->IsArray()) {
    RETURN_IF_ERROR(AppendList(tensor, *content, &read));
  } else {
    return Bad(tensor.name,
               "has to be a list of values, {\"content\": [...], \"shape\": [...]}, or "
               "{\"b64\": \"...\"}");
  }
  return read;
}

}  // namespace

absl::StatusOr<std::vector<DataEntry>> ParseDataFile(absl::string_view json,
                                                     const ModelDescription& model) {
  JsonTree tree;
  RETURN_IF_ERROR(ParseJson(json, kMostDepth, ParseBudget::UpTo(kMostTensorBytes), &tree));
  const JsonValue* const data = FindMember(tree, "data");
  if (data == nullptr || !data->IsArray() || data->Empty() || data->Size() > kMostEntries) {
    return absl::InvalidArgumentError(absl::StrCat("it has to be {\"data\": [...]} with 1 to ",
                                                   kMostEntries, " requests in the list"));
  }
  std::vector<DataEntry> entries;
  for (const JsonValue& item : data->GetArray()) {
    if (!item.IsObject()) {
      return absl::InvalidArgumentError(
          "an element of \"data\" is not an object of inputs; lists, which perf_analyzer takes for "
          "sequences, are not supported");
    }
    DataEntry& entry = entries.emplace_back();
    for (const TensorDescription& tensor : model.inputs) {
      const JsonValue* const value = FindMember(item, tensor.name.c_str());
      if (value == nullptr) continue;
      ASSIGN_OR_RETURN(entry[tensor.name], ReadTensor(tensor, *value));
    }
  }
  return entries;
}

absl::StatusOr<std::vector<DataEntry>> ReadDataFile(const std::string& name,
                                                    const ModelDescription& model) {
  ASSIGN_OR_RETURN(const std::string json, ReadWholeFile(name));
  absl::StatusOr<std::vector<DataEntry>> entries = ParseDataFile(json, model);
  if (entries.ok()) return entries;
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", entries.status().message()));
}

}  // namespace nereid::bench
