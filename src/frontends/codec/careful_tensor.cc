// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/careful_tensor.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "frontends/codec/binary_tensor.h"
#include "frontends/codec/json_parse.h"
#include "frontends/codec/known_names.h"

namespace nereid {
namespace {

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

struct JsonBool {};

template <typename Json>
struct Place {
  using Element = std::conditional_t<std::is_same_v<Json, JsonBool>, uint8_t, Json>;
  Element* next;
  Element* end;
};

// For a number that is no value of the type `Json`.
template <typename Json>
std::string NotInRange(const JsonValue& value) {
  constexpr bool kIntegers = std::is_integral_v<Json>;
  constexpr auto kLowest = std::numeric_limits<Json>::lowest();
  constexpr auto kHighest = std::numeric_limits<Json>::max();
  std::string text;
  bool whole = true;
  if (value.IsDouble()) {
    const double number = value.GetDouble();
    AppendJsonDouble(number, &text);
    // As a double, the highest number of 64 bits is one more than it is.
    constexpr auto kTop = static_cast<double>(kHighest);
    whole = number < static_cast<double>(kLowest) ||
            (sizeof(Json) < sizeof(double) ? number > kTop : number >= kTop);
  } else {
    text = JsonText(value);
  }
  absl::StrAppend(&text, whole ? " is out of range, " : " is no whole number, ");
  if constexpr (kIntegers) {
    absl::StrAppend(&text, kLowest, " to ", kHighest);
  } else {
    AppendJsonDouble(kLowest, &text);
    text += " to ";
    AppendJsonDouble(kHighest, &text);
  }
  return text;
}

template <typename Json, typename T, typename Element>
absl::Status ReadInteger(const JsonValue& value, const absl::StatusOr<T>& read, Element* out) {
  if (!read.ok()) {
    // The text that clients know comes first.
    return value.IsNumber() ? absl::InvalidArgumentError(absl::StrCat(read.status().message(), ": ",
                                                                      NotInRange<Json>(value)))
                            : read.status();
  }
  *out = static_cast<Json>(*read);
  return *out == *read ? absl::OkStatus() : absl::InvalidArgumentError(NotInRange<Json>(value));
}

template <typename Json, typename Element>
absl::Status ReadScalar(const JsonValue& value, Element* out) {
  if constexpr (std::is_same_v<Json, JsonBool>) {
    ASSIGN_OR_RETURN(const bool read, AsBool(value));
    *out = read ? 1 : 0;
  } else if constexpr (std::is_floating_point_v<Json>) {
    ASSIGN_OR_RETURN(const double read, AsDouble(value));
    *out = static_cast<Json>(read);
    if (std::isinf(*out) && !std::isinf(read)) {
      return absl::InvalidArgumentError(NotInRange<Json>(value));
    }
  } else if constexpr (std::is_unsigned_v<Json>) {
    return ReadInteger<Json>(value, AsUint(value), out);
  } else {
    return ReadInteger<Json>(value, AsInt(value), out);
  }
  return absl::OkStatus();
}

constexpr char kNotTheShape[] = "Shape does not match true shape of 'data' field";

template <typename Json>
absl::Status Flatten(const JsonValue& array, Place<Json>* place) {
  for (const JsonValue& item : array.GetArray()) {
    if (item.IsArray()) {
      RETURN_IF_ERROR(Flatten<Json>(item, place));
      continue;
    }
    if (place->next == place->end) {
      return UnableToParse("data", absl::InvalidArgumentError(kNotTheShape));
    }
    RETURN_IF_ERROR(UnableToParse("data", ReadScalar<Json>(item, place->next)));
    ++place->next;
  }
  return absl::OkStatus();
}

absl::Status FlattenStrings(const JsonValue& array, uint64_t* count, std::string* tensor) {
  for (const JsonValue& item : array.GetArray()) {
    if (item.IsArray()) {
      RETURN_IF_ERROR(FlattenStrings(item, count, tensor));
      continue;
    }
    const absl::StatusOr<absl::string_view> text = AsString(item);
    if (!text.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("Unable to parse JSON bytes array: ", text.status().message()));
    }
    AppendBytesElement(*text, tensor);
    ++*count;
  }
  return absl::OkStatus();
}

size_t CountScalars(const JsonValue& array) {
  size_t count = 0;
  for (const JsonValue& item : array.GetArray()) count += item.IsArray() ? CountScalars(item) : 1;
  return count;
}

// Adds to `status`, whose text clients know, which element it is about.
absl::Status WithElement(const absl::Status& status, const V2Input& input, uint64_t index) {
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(), ": element ", index, " of input ", QuotedName(input.name),
                   ", whose datatype is ", DataTypeName(input.data_type)));
}

absl::Status TooLarge(const V2Input& input, uint64_t byte_size, uint64_t limit) {
  return absl::InvalidArgumentError(
      absl::StrCat("JSON input '", input.name, "' has a byte_size (", byte_size,
                   " bytes) that exceeds the maximum allowed value of ", limit,
                   " bytes. Use --http-max-input-size to increase the limit."));
}

absl::StatusOr<int64_t> CountElements(const V2Input& input) {
  const std::string what = absl::StrCat("invalid shape for input '", input.name, "': shape ",
                                        ShapeToString(input.shape));
  for (const int64_t dim : input.shape) {
    if (dim < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " contains one or more invalid dimensions"));
    }
  }
  const std::optional<int64_t> count = ElementCount(input.shape);
  if (!count) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " causes total element count to exceed maximum size of ", kMaxInt64));
  }
  return *count;
}

template <typename Json>
absl::Status ReadNumbers(const JsonValue& data, uint64_t max_tensor_bytes, int64_t count,
                         RequestBuffers* buffers, V2Input* input) {
  using Element = typename Place<Json>::Element;
  int64_t byte_size;
  if (__builtin_mul_overflow(count, static_cast<int64_t>(sizeof(Element)), &byte_size)) {
    return absl::InvalidArgumentError(
        absl::StrCat("byte size overflow for input '", input->name, "': element count (", count,
                     ") * data type size (", sizeof(Element), ") exceeds maximum allowed size (",
                     kMaxInt64, ")"));
  }
  if (static_cast<uint64_t>(byte_size) > max_tensor_bytes) {
    return TooLarge(*input, static_cast<uint64_t>(byte_size), max_tensor_bytes);
  }
  // A shape may promise far more than the array holds; memory is taken only for existing elements.
  const size_t room = std::min(static_cast<size_t>(count), CountScalars(data));
  char* bytes = buffers->Allocate(room * sizeof(Element));
  if (bytes == nullptr) return buffers->WhyNothing("a JSON tensor");
  auto* first = reinterpret_cast<Element*>(bytes);
  Place<Json> place{first, first + room};
  if (const absl::Status read = Flatten<Json>(data, &place); !read.ok()) {
    if (place.next < place.end) {
      return WithElement(read, *input, static_cast<uint64_t>(place.next - first));
    }
    return absl::Status(
        read.code(),
        absl::StrCat(read.message(), ": input ", QuotedName(input->name), " has more than the ",
                     count, " elements of its shape ", ShapeToString(input->shape)));
  }
  if (room < static_cast<size_t>(count)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Failed to parse 'data' field: shape does not match true shape: input ",
                     QuotedName(input->name), " has ", room, " of the ", count,
                     " elements of its shape ", ShapeToString(input->shape)));
  }
  input->bytes = bytes;
  input->byte_size = static_cast<uint64_t>(byte_size);
  return absl::OkStatus();
}

absl::Status ReadStrings(const JsonValue& data, uint64_t max_tensor_bytes, RequestBuffers* buffers,
                         V2Input* input) {
  std::string tensor;
  uint64_t elements = 0;
  if (const absl::Status read = FlattenStrings(data, &elements, &tensor); !read.ok()) {
    return WithElement(read, *input, elements);
  }
  if (tensor.size() > max_tensor_bytes) return TooLarge(*input, tensor.size(), max_tensor_bytes);
  input->byte_size = tensor.size();
  input->bytes = buffers->Adopt(std::move(tensor));
  return input->bytes == nullptr ? buffers->WhyNothing("a JSON tensor") : absl::OkStatus();
}

constexpr absl::string_view kDataTypesInJson[] = {"BOOL",   "UINT8", "UINT16", "UINT32",
                                                  "UINT64", "INT8",  "INT16",  "INT32",
                                                  "INT64",  "FP32",  "FP64",   "BYTES"};

// Configurations say TYPE_FP32 and TYPE_STRING where requests say FP32 and BYTES.
absl::string_view MeantType(absl::string_view name) {
  absl::ConsumePrefix(&name, "TYPE_");
  if (name == "STRING") return "BYTES";
  return absl::c_linear_search(kDataTypesInJson, name) ? name : "";
}

absl::Status OnlyBinary(const V2Input& input) {
  return absl::InvalidArgumentError(absl::StrCat(
      "receiving ", DataTypeName(input.data_type),
      " data via JSON is not supported. Please use the binary data format for input ", input.name));
}

}  // namespace

absl::Status ReadTensorCarefully(const JsonValue& data, absl::string_view data_type,
                                 uint64_t max_tensor_bytes, RequestBuffers* buffers,
                                 V2Input* input) {
  RETURN_IF_ERROR(UnableToParse("data", CheckArray(data)));
  ASSIGN_OR_RETURN(const int64_t count, CountElements(*input));
  const auto read = [&](auto tag) {
    return ReadNumbers<decltype(tag)>(data, max_tensor_bytes, count, buffers, input);
  };
  switch (input->data_type) {
    case DataType::kBool:
      return read(JsonBool{});
    case DataType::kUint8:
      return read(uint8_t{});
    case DataType::kUint16:
      return read(uint16_t{});
    case DataType::kUint32:
      return read(uint32_t{});
    case DataType::kUint64:
      return read(uint64_t{});
    case DataType::kInt8:
      return read(int8_t{});
    case DataType::kInt16:
      return read(int16_t{});
    case DataType::kInt32:
      return read(int32_t{});
    case DataType::kInt64:
      return read(int64_t{});
    case DataType::kFp32:
      return read(float{});
    case DataType::kFp64:
      return read(double{});
    case DataType::kBytes:
      return ReadStrings(data, max_tensor_bytes, buffers, input);
    case DataType::kFp16:
    case DataType::kBf16:
      return OnlyBinary(*input);
    case DataType::kInvalid:
      break;
  }
  // The model decides the type, unless the elements sent cannot be read at all.
  if (CountScalars(data) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "invalid datatype for input ", input->name, ": ",
      CheckKnown("datatype", data_type, kDataTypesInJson, MeantType(data_type)).message()));
}

}  // namespace nereid
