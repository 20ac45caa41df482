// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/typed_contents.h"

#include <absl/strings/str_cat.h>

#include <cstring>
#include <limits>

#include "base/status_macros.h"

namespace nereid {
namespace {

using google::protobuf::RepeatedField;
using google::protobuf::RepeatedPtrField;

template <typename T>
absl::string_view BytesOf(const RepeatedField<T>& values) {
  return absl::string_view(reinterpret_cast<const char*>(values.data()),
                           static_cast<size_t>(values.size()) * sizeof(T));
}

constexpr char kValues[] = "the values of an input tensor";

template <typename Element, typename T>
absl::Status NotInRange(const TensorOfModel& names, DataType type, int index, T value) {
  using Limits = std::numeric_limits<Element>;
  return absl::InvalidArgumentError(absl::StrCat(
      "unexpected explicit tensor data for input tensor '", names.tensor, "' for model '",
      names.model, "': element ", index, " is ", value, ", which is out of range of '",
      DataTypeName(type), "', ", Limits::lowest(), " to ", Limits::max()));
}

// The values as elements of `type`, which is narrower than the type of the field.
template <typename Element, typename T>
absl::StatusOr<absl::string_view> Narrow(const TensorOfModel& names, DataType type,
                                         const RepeatedField<T>& values, RequestBuffers* buffers) {
  const size_t byte_size = static_cast<size_t>(values.size()) * sizeof(Element);
  char* const bytes = buffers->Allocate(byte_size);
  if (bytes == nullptr) return buffers->WhyNothing(kValues);
  for (int i = 0; i < values.size(); ++i) {
    const auto element = static_cast<Element>(values.Get(i));
    if (element != values.Get(i)) return NotInRange<Element>(names, type, i, values.Get(i));
    std::memcpy(bytes + static_cast<size_t>(i) * sizeof(Element), &element, sizeof(Element));
  }
  return absl::string_view(bytes, byte_size);
}

absl::StatusOr<absl::string_view> Join(const RepeatedPtrField<std::string>& elements,
                                       RequestBuffers* buffers) {
  size_t byte_size = 0;
  for (const std::string& element : elements) byte_size += sizeof(uint32_t) + element.size();
  char* const bytes = buffers->Allocate(byte_size);
  if (bytes == nullptr) return buffers->WhyNothing(kValues);
  char* next = bytes;
  for (const std::string& element : elements) {
    const auto length = static_cast<uint32_t>(element.size());
    std::memcpy(next, &length, sizeof(length));
    std::memcpy(next + sizeof(length), element.data(), element.size());
    next += sizeof(length) + element.size();
  }
  return absl::string_view(bytes, byte_size);
}

// Detects which fields have values; records the type of the one that has.
class FieldCheck {
 public:
  FieldCheck(const TensorOfModel& names, DataType wanted) : names_(names), wanted_(wanted) {}

  // `type` is the type in the field; for a field that serves several types, the requested one.
  void See(bool filled, DataType type) {
    if (!filled || !status_.ok()) return;
    if (seen_) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat("unexpected explicit tensor data for input tensor '", names_.tensor,
                       "' for model '", names_.model, "', binary data was already supplied."));
    } else if (type != wanted_) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat("unexpected explicit tensor data for input tensor '", names_.tensor,
                       "' for model '", names_.model, "' of type '", DataTypeName(type),
                       "', expected datatype '", DataTypeName(wanted_), "'"));
    }
    seen_ = true;
  }
  bool seen() const { return seen_; }
  const absl::Status& status() const { return status_; }

 private:
  const TensorOfModel& names_;
  const DataType wanted_;
  bool seen_ = false;
  absl::Status status_;
};

DataType SignedType(DataType wanted) {
  return wanted == DataType::kInt8 || wanted == DataType::kInt16 ? wanted : DataType::kInt32;
}

DataType UnsignedType(DataType wanted) {
  return wanted == DataType::kUint8 || wanted == DataType::kUint16 ? wanted : DataType::kUint32;
}

}  // namespace

absl::StatusOr<absl::string_view> TypedContents(const TensorOfModel& names, DataType data_type,
                                                const inference::InferTensorContents& contents,
                                                RequestBuffers* buffers) {
  FieldCheck check(names, data_type);
  check.See(contents.bool_contents_size() > 0, DataType::kBool);
  check.See(contents.int_contents_size() > 0, SignedType(data_type));
  check.See(contents.int64_contents_size() > 0, DataType::kInt64);
  check.See(contents.uint_contents_size() > 0, UnsignedType(data_type));
  check.See(contents.uint64_contents_size() > 0, DataType::kUint64);
  check.See(contents.fp32_contents_size() > 0, DataType::kFp32);
  check.See(contents.fp64_contents_size() > 0, DataType::kFp64);
  check.See(contents.bytes_contents_size() > 0, DataType::kBytes);
  RETURN_IF_ERROR(check.status());
  if (!check.seen()) return absl::string_view();
  switch (data_type) {
    case DataType::kBool:
      return BytesOf(contents.bool_contents());
    case DataType::kInt8:
      return Narrow<int8_t>(names, data_type, contents.int_contents(), buffers);
    case DataType::kInt16:
      return Narrow<int16_t>(names, data_type, contents.int_contents(), buffers);
    case DataType::kInt32:
      return BytesOf(contents.int_contents());
    case DataType::kInt64:
      return BytesOf(contents.int64_contents());
    case DataType::kUint8:
      return Narrow<uint8_t>(names, data_type, contents.uint_contents(), buffers);
    case DataType::kUint16:
      return Narrow<uint16_t>(names, data_type, contents.uint_contents(), buffers);
    case DataType::kUint32:
      return BytesOf(contents.uint_contents());
    case DataType::kUint64:
      return BytesOf(contents.uint64_contents());
    case DataType::kFp32:
      return BytesOf(contents.fp32_contents());
    case DataType::kFp64:
      return BytesOf(contents.fp64_contents());
    default:
      return Join(contents.bytes_contents(), buffers);
  }
}

}  // namespace nereid
