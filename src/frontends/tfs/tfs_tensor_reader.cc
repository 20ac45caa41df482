// SPDX-License-Identifier: Apache-2.0
#include "frontends/tfs/tfs_tensor_reader.h"

#include <absl/algorithm/container.h>
#include <absl/status/statusor.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/binary_tensor.h"
#include "frontends/codec/json_parse.h"
#include "model/data_type.h"
#include "model/shape.h"

namespace nereid {
namespace {

constexpr char kBase64Key[] = "b64";
constexpr size_t kMostQuoted = 64;  // characters of a value that an error quotes

absl::Status WrongValues(const TfsValues& values, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the input '", values.key, "' ", what));
}

std::string Describe(const JsonValue& value) {
  if (value.IsArray()) return "a list";
  if (value.IsObject()) return "an object";
  if (value.IsString() && value.GetStringLength() > kMostQuoted) return "a long string";
  return JsonText(value);
}

absl::Status WrongElement(const TfsValues& values, DataType type, const JsonValue& value) {
  return WrongValues(values, absl::StrCat("takes elements of ", DataTypeName(type), ", and ",
                                          Describe(value), " is none"));
}

// The lists around the first element.
Shape ShapeOfFirst(const JsonValue& value) {
  Shape shape;
  const JsonValue* inner = &value;
  while (inner->IsArray()) {
    shape.push_back(inner->Size());
    if (inner->Empty()) break;
    inner = &(*inner)[0];
  }
  return shape;
}

bool HasShape(const JsonValue& value, absl::Span<const int64_t> shape) {
  if (shape.empty()) return !value.IsArray();
  if (!value.IsArray() || value.Size() != shape.front()) return false;
  return absl::c_all_of(value.GetArray(), [inner = shape.subspan(1)](const JsonValue& item) {
    return HasShape(item, inner);
  });
}

// The shape as the lists have it. From here on all rows have the same.
absl::StatusOr<Shape> ReadShape(const TfsValues& values) {
  Shape shape;
  const Shape of_row = values.rows.empty() ? Shape() : ShapeOfFirst(*values.rows.front());
  const JsonValue* before = nullptr;
  for (const JsonValue* const row : values.rows) {
    // What all examples share stands in many rows, and is compared once.
    if (row == std::exchange(before, row) || HasShape(*row, of_row)) continue;
    return WrongValues(values,
                       absl::StrCat("is no tensor, because its lists differ: all rows must have "
                                    "the shape ",
                                    ShapeToString(of_row), " of the first"));
  }
  if (!values.scalar) shape.push_back(static_cast<int64_t>(values.rows.size()));
  shape.insert(shape.end(), of_row.begin(), of_row.end());
  return shape;
}

// Gives `shape` the dimensions that the model has and the lists of this API do not.
void AdaptShape(bool features, const CompiledModel& model, const InputSpec& spec, Shape* shape) {
  if (shape->size() == 1 && IsElementPerRow(model, spec.dims)) return shape->push_back(1);
  if (!features || shape->size() > 2) return;
  const int64_t of_row = shape->size() == 2 ? shape->back() : 1;
  Shape dims = spec.dims;
  if (model.max_batch_size == 0 && !dims.empty()) dims.erase(dims.begin());
  if (ElementCount(dims) != of_row) return;
  shape->resize(1);
  shape->insert(shape->end(), dims.begin(), dims.end());
}

template <typename T>
bool Convert(const JsonValue& value, T* out) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!value.IsBool()) return false;
    *out = value.GetBool();
    return true;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!value.IsNumber()) return false;
    const double number = value.GetDouble();
    *out = static_cast<T>(number);
    return std::isinf(number) || !std::isinf(*out);
  } else if constexpr (std::is_unsigned_v<T>) {
    if (!value.IsUint64()) return false;
    *out = static_cast<T>(value.GetUint64());
    return *out == value.GetUint64();
  } else {
    if (!value.IsInt64()) return false;
    *out = static_cast<T>(value.GetInt64());
    return *out == value.GetInt64();
  }
}

// Writes the elements of `value` to `*at`, in order. On an error returns the element.
template <typename T>
const JsonValue* Flatten(const JsonValue& value, char** at) {
  if (value.IsArray()) {
    for (const JsonValue& item : value.GetArray()) {
      if (const JsonValue* const wrong = Flatten<T>(item, at)) return wrong;
    }
    return nullptr;
  }
  T element;
  if (!Convert(value, &element)) return &value;
  std::memcpy(*at, &element, sizeof(element));
  *at += sizeof(element);
  return nullptr;
}

absl::string_view TextOf(const JsonValue& value) {
  return {value.GetString(), value.GetStringLength()};
}

// The text of a string, or the Base64 of one of bytes.
absl::string_view CodedText(const JsonValue& value) {
  return TextOf(value.IsString() ? value : value.MemberBegin()->value);
}

// Adds to `*size` what the elements of `value` take as BYTES, at most. On an error returns the
// element.
const JsonValue* MeasureStrings(const JsonValue& value, uint64_t* size) {
  if (value.IsArray()) {
    for (const JsonValue& item : value.GetArray()) {
      if (const JsonValue* const wrong = MeasureStrings(item, size)) return wrong;
    }
    return nullptr;
  }
  if (!value.IsString() && !IsBase64Object(value)) return &value;
  *size += sizeof(uint32_t) + CodedText(value).size();
  return nullptr;
}

// As Flatten; `value` was measured.
const JsonValue* FlattenStrings(const JsonValue& value, char** at) {
  if (value.IsArray()) {
    for (const JsonValue& item : value.GetArray()) {
      if (const JsonValue* const wrong = FlattenStrings(item, at)) return wrong;
    }
    return nullptr;
  }
  if (value.IsString()) {
    PutBytesElement(TextOf(value), at);
    return nullptr;
  }
  std::string bytes;
  if (!absl::Base64Unescape(CodedText(value), &bytes)) return &value;
  PutBytesElement(bytes, at);
  return nullptr;
}

struct TensorBytes {
  const char* bytes = nullptr;
  size_t size = 0;
};

template <typename T>
absl::StatusOr<TensorBytes> ReadNumbers(const TfsValues& values, DataType type, size_t size,
                                        RequestBuffers* buffers) {
  char* const bytes = buffers->Allocate(size);
  if (bytes == nullptr) return buffers->WhyNothing("a tensor");
  char* at = bytes;
  for (const JsonValue* const row : values.rows) {
    if (const JsonValue* const wrong = Flatten<T>(*row, &at)) {
      return WrongElement(values, type, *wrong);
    }
  }
  return TensorBytes{bytes, size};
}

absl::StatusOr<TensorBytes> ReadStrings(const TfsValues& values, uint64_t max_bytes,
                                        RequestBuffers* buffers) {
  uint64_t most = 0;
  uint64_t of_row = 0;
  const JsonValue* before = nullptr;
  for (const JsonValue* const row : values.rows) {
    if (row != before) {
      of_row = 0;
      if (const JsonValue* const wrong = MeasureStrings(*row, &of_row)) {
        return WrongElement(values, DataType::kBytes, *wrong);
      }
      before = row;
    }
    most += of_row;
    if (most > max_bytes) {
      return WrongValues(values,
                         absl::StrCat("has more than ", max_bytes,
                                      " bytes of BYTES, which is the most that is allowed"));
    }
  }
  char* const bytes = buffers->Allocate(most);
  if (bytes == nullptr) return buffers->WhyNothing("a tensor");
  char* at = bytes;
  for (const JsonValue* const row : values.rows) {
    if (FlattenStrings(*row, &at) != nullptr) {
      return WrongValues(values, "has a value of 'b64' that is not Base64");
    }
  }
  return TensorBytes{bytes, static_cast<size_t>(at - bytes)};
}

absl::StatusOr<TensorBytes> ReadElements(const TfsValues& values, DataType type, const Shape& shape,
                                         uint64_t max_bytes, RequestBuffers* buffers) {
  if (type == DataType::kBytes) return ReadStrings(values, max_bytes, buffers);
  const std::optional<int64_t> size = TensorByteSize(type, shape);
  if (!size.has_value() || static_cast<uint64_t>(*size) > max_bytes) {
    return WrongValues(values,
                       absl::StrCat("has more than ", max_bytes, " bytes of ", DataTypeName(type),
                                    ", which is the most that is allowed"));
  }
  const auto read = [&](auto element) {
    return ReadNumbers<decltype(element)>(values, type, static_cast<size_t>(*size), buffers);
  };
  return ReadAsElement(type, read, [&]() -> absl::StatusOr<TensorBytes> {
    return WrongValues(values, absl::StrCat("takes ", DataTypeName(type),
                                            ", for which this API has no form in JSON: use the API "
                                            "under /v2"));
  });
}

}  // namespace

bool IsBase64Object(const JsonValue& value) {
  if (!value.IsObject() || value.MemberCount() != 1) return false;
  const auto& member = *value.MemberBegin();
  return member.value.IsString() && member.name == kBase64Key;
}

absl::Status AddTfsInput(const TfsValues& values, const InputSpec& spec, uint64_t max_bytes,
                         InferRequest* request, RequestBuffers* buffers) {
  ASSIGN_OR_RETURN(Shape shape, ReadShape(values));
  ASSIGN_OR_RETURN(const TensorBytes tensor,
                   ReadElements(values, spec.data_type, shape, max_bytes, buffers));
  return AddTfsTensor(spec, values.features, std::move(shape), tensor.bytes, tensor.size, request);
}

absl::Status AddTfsTensor(const InputSpec& spec, bool features, Shape shape, const char* bytes,
                          size_t size, InferRequest* request) {
  AdaptShape(features, request->model()->config(), spec, &shape);
  ASSIGN_OR_RETURN(InferInput* const added, request->AddInput(spec.name, spec.data_type, shape));
  added->AppendBuffer({bytes, size, MemoryPlace{}});
  return absl::OkStatus();
}

}  // namespace nereid
