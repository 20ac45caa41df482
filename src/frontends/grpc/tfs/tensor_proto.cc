// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/tfs/tensor_proto.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/binary_tensor.h"
#include "frontends/codec/request_limits.h"
#include "frontends/tfs/tfs_tensor_reader.h"
#include "model/shape.h"

namespace nereid {
namespace {

using google::protobuf::RepeatedField;
using google::protobuf::RepeatedPtrField;
using tensorflow::Feature;
using tensorflow::TensorProto;

struct TypePair {
  DataType ours;
  tensorflow::DataType theirs;
};

constexpr TypePair kTypes[] = {
    {DataType::kBool, tensorflow::DT_BOOL},     {DataType::kUint8, tensorflow::DT_UINT8},
    {DataType::kUint16, tensorflow::DT_UINT16}, {DataType::kUint32, tensorflow::DT_UINT32},
    {DataType::kUint64, tensorflow::DT_UINT64}, {DataType::kInt8, tensorflow::DT_INT8},
    {DataType::kInt16, tensorflow::DT_INT16},   {DataType::kInt32, tensorflow::DT_INT32},
    {DataType::kInt64, tensorflow::DT_INT64},   {DataType::kFp16, tensorflow::DT_HALF},
    {DataType::kFp32, tensorflow::DT_FLOAT},    {DataType::kFp64, tensorflow::DT_DOUBLE},
    {DataType::kBytes, tensorflow::DT_STRING},  {DataType::kBf16, tensorflow::DT_BFLOAT16},
};

absl::Status Wrong(absl::string_view key, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the input '", key, "' ", what));
}

std::string NameOf(tensorflow::DataType type) {
  const std::string& name = tensorflow::DataType_Name(type);
  return name.empty() ? absl::StrCat("the unknown type ", static_cast<int>(type)) : name;
}

absl::Status TooLarge(absl::string_view key) {
  return Wrong(key, absl::StrCat("has more than ", kMostFilledBytes,
                                 " bytes, which is the most that is allowed for elements that the "
                                 "request does not have one by one"));
}

absl::StatusOr<Shape> ReadShape(absl::string_view key, const TensorProto& tensor) {
  const tensorflow::TensorShapeProto& proto = tensor.tensor_shape();
  if (proto.unknown_rank()) return Wrong(key, "has an unknown rank: a tensor has a shape");
  RETURN_IF_ERROR(CheckDimensionCount(key, static_cast<size_t>(proto.dim_size())));
  Shape shape;
  for (const auto& dim : proto.dim()) shape.push_back(dim.size());
  if (ElementCount(shape).has_value()) return shape;
  return Wrong(key, absl::StrCat("has the shape ", ShapeToString(shape),
                                 ", which no tensor has: dimensions are 0 or more"));
}

// `size` bytes at an address that `alignment` divides.
absl::StatusOr<absl::string_view> Aligned(absl::string_view bytes, uint32_t alignment,
                                          RequestBuffers* buffers) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignment == 0) return bytes;
  const char* const copy = buffers->CopyAligned(bytes.data(), bytes.size());
  if (copy == nullptr) return buffers->WhyNothing("a misaligned tensor");
  return absl::string_view(copy, bytes.size());
}

// Reads the elements of one tensor, of which there are `count`.
class ElementReader {
 public:
  ElementReader(absl::string_view key, const TensorProto& tensor, int64_t count,
                RequestBuffers* buffers)
      : key_(key), tensor_(tensor), count_(static_cast<uint64_t>(count)), buffers_(buffers) {}

  absl::StatusOr<absl::string_view> Read(DataType type) const {
    if (!tensor_.tensor_content().empty()) return ReadContent(type);
    switch (type) {
      case DataType::kBool:
        return Take<bool>(tensor_.bool_val());
      case DataType::kUint8:
        return Take<uint8_t>(tensor_.int_val());
      case DataType::kUint16:
        return Take<uint16_t>(tensor_.int_val());
      case DataType::kUint32:
        return Take<uint32_t>(tensor_.uint32_val());
      case DataType::kUint64:
        return Take<uint64_t>(tensor_.uint64_val());
      case DataType::kInt8:
        return Take<int8_t>(tensor_.int_val());
      case DataType::kInt16:
        return Take<int16_t>(tensor_.int_val());
      case DataType::kInt32:
        return Take<int32_t>(tensor_.int_val());
      case DataType::kInt64:
        return Take<int64_t>(tensor_.int64_val());
      case DataType::kFp16:
      case DataType::kBf16:
        return Take<uint16_t>(tensor_.half_val());
      case DataType::kFp32:
        return Take<float>(tensor_.float_val());
      case DataType::kFp64:
        return Take<double>(tensor_.double_val());
      case DataType::kBytes:
        return TakeStrings();
      case DataType::kInvalid:
        break;
    }
    return Wrong(key_, "has no type");
  }

 private:
  absl::StatusOr<absl::string_view> ReadContent(DataType type) const {
    const std::string& content = tensor_.tensor_content();
    if (type == DataType::kBytes) {
      return Wrong(key_, "has its strings in tensor_content: they must be in string_val");
    }
    const uint32_t size = DataTypeByteSize(type);
    if (content.size() % size != 0 || content.size() / size != count_) {
      return Wrong(key_, absl::StrCat("has ", content.size(), " bytes of tensor_content, but ",
                                      count_, " elements of ", size, " bytes"));
    }
    return Aligned(content, size, buffers_);
  }

  absl::Status CheckCount(int values) const {
    if (static_cast<uint64_t>(values) <= count_) return absl::OkStatus();
    return Wrong(key_, absl::StrCat("has ", values, " values, but its shape has ", count_,
                                    " elements: there may be fewer values, not more"));
  }

  template <typename Element, typename T>
  absl::StatusOr<absl::string_view> Take(const RepeatedField<T>& values) const {
    RETURN_IF_ERROR(CheckCount(values.size()));
    const auto given = static_cast<uint64_t>(values.size());
    if (std::is_same_v<Element, T> && given == count_) {
      return absl::string_view(reinterpret_cast<const char*>(values.data()),
                               given * sizeof(Element));
    }
    if (given < count_ && count_ > kMostFilledBytes / sizeof(Element)) return TooLarge(key_);
    const auto size = static_cast<size_t>(count_ * sizeof(Element));
    char* const bytes = buffers_->Allocate(size);
    if (bytes == nullptr) return buffers_->WhyNothing("a tensor");
    auto* const elements = reinterpret_cast<Element*>(bytes);
    for (int i = 0; i < values.size(); ++i) {
      elements[i] = static_cast<Element>(values.Get(i));
      if constexpr (!std::is_same_v<Element, T>) {
        if (elements[i] == values.Get(i)) continue;
        return Wrong(key_, absl::StrCat("has the value ", values.Get(i), " as element ", i,
                                        ", which is out of the range of its type"));
      }
    }
    const Element last = given == 0 ? Element() : elements[given - 1];
    std::fill(elements + given, elements + count_, last);
    return absl::string_view(bytes, size);
  }

  absl::StatusOr<absl::string_view> TakeStrings() const {
    const RepeatedPtrField<std::string>& values = tensor_.string_val();
    RETURN_IF_ERROR(CheckCount(values.size()));
    const absl::string_view last = values.empty() ? absl::string_view() : *std::prev(values.end());
    const uint64_t missing = count_ - static_cast<uint64_t>(values.size());
    const uint64_t of_last = sizeof(uint32_t) + last.size();
    if (missing > kMostFilledBytes / of_last) return TooLarge(key_);
    uint64_t size = missing * of_last;
    for (const std::string& value : values) size += sizeof(uint32_t) + value.size();
    char* const bytes = buffers_->Allocate(static_cast<size_t>(size));
    if (bytes == nullptr) return buffers_->WhyNothing("a tensor");
    char* at = bytes;
    for (const std::string& value : values) PutBytesElement(value, &at);
    for (uint64_t i = 0; i < missing; ++i) PutBytesElement(last, &at);
    return absl::string_view(bytes, static_cast<size_t>(size));
  }

  const absl::string_view key_;
  const TensorProto& tensor_;
  const uint64_t count_;
  RequestBuffers* const buffers_;
};

// ---- Features

int CountOf(const Feature& feature) {
  switch (feature.kind_case()) {
    case Feature::kBytesList:
      return feature.bytes_list().value_size();
    case Feature::kFloatList:
      return feature.float_list().value_size();
    case Feature::kInt64List:
      return feature.int64_list().value_size();
    case Feature::KIND_NOT_SET:
      break;
  }
  return 0;
}

// Writes the elements of the feature to `*at`. False if it has others.
template <typename Element>
bool PutNumbers(const Feature& feature, char** at) {
  const auto put = [at](Element element) {
    std::memcpy(*at, &element, sizeof(element));
    *at += sizeof(element);
  };
  if (feature.kind_case() == Feature::kInt64List) {
    for (const int64_t value : feature.int64_list().value()) {
      const auto element = static_cast<Element>(value);
      if constexpr (!std::is_floating_point_v<Element>) {
        if (static_cast<int64_t>(element) != value || (value < 0) != (element < Element())) {
          return false;
        }
      }
      put(element);
    }
    return true;
  }
  if constexpr (std::is_floating_point_v<Element>) {
    for (const float value : feature.float_list().value()) put(static_cast<Element>(value));
    return feature.kind_case() != Feature::kBytesList;
  }
  return feature.kind_case() == Feature::KIND_NOT_SET;
}

absl::Status WrongFeature(absl::string_view key, DataType type) {
  return Wrong(key, absl::StrCat("takes elements of ", DataTypeName(type),
                                 ", and the feature of an example has others"));
}

template <typename Element>
absl::StatusOr<absl::string_view> ReadNumbers(absl::string_view key,
                                              absl::Span<const Feature* const> rows, DataType type,
                                              uint64_t count, RequestBuffers* buffers) {
  if (count > kMostFilledBytes / sizeof(Element)) return TooLarge(key);
  const auto size = static_cast<size_t>(count * sizeof(Element));
  char* const bytes = buffers->Allocate(size);
  if (bytes == nullptr) return buffers->WhyNothing("a tensor");
  char* at = bytes;
  for (const Feature* const row : rows) {
    if (!PutNumbers<Element>(*row, &at)) return WrongFeature(key, type);
  }
  return absl::string_view(bytes, size);
}

absl::StatusOr<absl::string_view> ReadStrings(absl::string_view key,
                                              absl::Span<const Feature* const> rows,
                                              RequestBuffers* buffers) {
  uint64_t size = 0;
  for (const Feature* const row : rows) {
    if (row->has_float_list() || row->has_int64_list()) return WrongFeature(key, DataType::kBytes);
    for (const std::string& value : row->bytes_list().value()) {
      size += sizeof(uint32_t) + value.size();
    }
    if (size > kMostFilledBytes) return TooLarge(key);
  }
  char* const bytes = buffers->Allocate(static_cast<size_t>(size));
  if (bytes == nullptr) return buffers->WhyNothing("a tensor");
  char* at = bytes;
  for (const Feature* const row : rows) {
    for (const std::string& value : row->bytes_list().value()) PutBytesElement(value, &at);
  }
  return absl::string_view(bytes, static_cast<size_t>(size));
}

}  // namespace

tensorflow::DataType ToTensorFlow(DataType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.ours == type) return pair.theirs;
  }
  return tensorflow::DT_INVALID;
}

uint64_t FilledBytes(const TensorProto& tensor) {
  if (!tensor.tensor_content().empty()) return 0;
  uint64_t count = 1;
  for (const auto& dim : tensor.tensor_shape().dim()) {
    if (dim.size() <= 0) return 0;
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(dim.size()), &count)) return UINT64_MAX;
  }
  const int values = tensor.float_val_size() + tensor.double_val_size() + tensor.int_val_size() +
                     tensor.string_val_size() + tensor.int64_val_size() + tensor.bool_val_size() +
                     tensor.half_val_size() + tensor.uint32_val_size() + tensor.uint64_val_size();
  if (count <= static_cast<uint64_t>(values)) return 0;
  uint64_t size = sizeof(uint64_t);  // of an element, at most
  if (tensor.dtype() == tensorflow::DT_STRING) {
    size = sizeof(uint32_t);
    if (tensor.string_val_size() > 0) size += std::prev(tensor.string_val().end())->size();
  }
  uint64_t bytes;
  return __builtin_mul_overflow(count - static_cast<uint64_t>(values), size, &bytes) ? UINT64_MAX
                                                                                     : bytes;
}

absl::Status AddTensorProto(absl::string_view key, const TensorProto& tensor, const InputSpec& spec,
                            InferRequest* request, RequestBuffers* buffers) {
  if (tensor.dtype() != ToTensorFlow(spec.data_type)) {
    return Wrong(key, absl::StrCat("takes ", NameOf(ToTensorFlow(spec.data_type)),
                                   ", but the request has ", NameOf(tensor.dtype())));
  }
  ASSIGN_OR_RETURN(Shape shape, ReadShape(key, tensor));
  const int64_t count = *ElementCount(shape);
  ASSIGN_OR_RETURN(const absl::string_view bytes,
                   ElementReader(key, tensor, count, buffers).Read(spec.data_type));
  return AddTfsTensor(spec, /*features=*/false, std::move(shape), bytes.data(), bytes.size(),
                      request);
}

absl::Status AddFeatures(absl::string_view key, absl::Span<const Feature* const> rows,
                         const InputSpec& spec, InferRequest* request, RequestBuffers* buffers) {
  const int of_row = rows.empty() ? 0 : CountOf(*rows.front());
  for (const Feature* const row : rows) {
    if (CountOf(*row) == of_row) continue;
    return Wrong(key, absl::StrCat("is no tensor, because its features differ: all examples must "
                                   "have ",
                                   of_row, " elements, as the first"));
  }
  const uint64_t count = static_cast<uint64_t>(of_row) * rows.size();
  const auto read = [&]() -> absl::StatusOr<absl::string_view> {
    if (spec.data_type == DataType::kBytes) return ReadStrings(key, rows, buffers);
    const auto numbers = [&](auto element) {
      return ReadNumbers<decltype(element)>(key, rows, spec.data_type, count, buffers);
    };
    return ReadAsElement(spec.data_type, numbers, [&]() -> absl::StatusOr<absl::string_view> {
      return Wrong(key, absl::StrCat("takes ", DataTypeName(spec.data_type),
                                     ", which no feature of an example has: use Predict"));
    });
  };
  ASSIGN_OR_RETURN(const absl::string_view bytes, read());
  Shape shape = {static_cast<int64_t>(rows.size()), of_row};
  return AddTfsTensor(spec, /*features=*/true, std::move(shape), bytes.data(), bytes.size(),
                      request);
}

}  // namespace nereid
