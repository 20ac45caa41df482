// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/careful_tensor.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "frontends/codec/json_parse.h"
#include "frontends/codec/known_names.h"
#include "frontends/codec/tensor_grammar.h"

namespace nereid {
namespace {

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

// The cursor of the grammar on rapidjson's tree.
class CarefulCursor {
 public:
  // `*refused` becomes the value that ended reading: it is no array, and no element or has no
  // place.
  CarefulCursor(const JsonValue& value, const JsonValue** refused)
      : value_(value), refused_(refused) {}

  bool Get(bool* out) const { return value_.IsBool() && (*out = value_.GetBool(), true); }
  bool Get(int64_t* out) const { return value_.IsInt64() && (*out = value_.GetInt64(), true); }
  bool Get(uint64_t* out) const { return value_.IsUint64() && (*out = value_.GetUint64(), true); }
  bool Get(double* out) const { return value_.IsNumber() && (*out = value_.GetDouble(), true); }
  bool Get(std::string_view* out) const {
    if (!value_.IsString()) return false;
    *out = {value_.GetString(), value_.GetStringLength()};
    return true;
  }

  template <typename Visit>
  bool ForEach(Visit visit) const {
    if (!value_.IsArray()) {
      *refused_ = &value_;
      return false;
    }
    for (const JsonValue& item : value_.GetArray()) {
      CarefulCursor cursor(item, refused_);
      if (!visit(cursor)) return false;
    }
    return true;
  }

 private:
  const JsonValue& value_;
  const JsonValue** const refused_;
};

// ParseJson has bounded the nesting.
constexpr int kAnyDepth = std::numeric_limits<int>::max();

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

// Why the grammar refused `value` as an element of the type `Json`.
template <typename Json>
absl::Status WhyNoElement(const JsonValue& value) {
  if constexpr (std::is_same_v<Json, JsonBool>) {
    return AsBool(value).status();
  } else {
    absl::Status kind;
    if constexpr (std::is_floating_point_v<Json>) {
      kind = AsDouble(value).status();
    } else if constexpr (std::is_unsigned_v<Json>) {
      kind = AsUint(value).status();
    } else {
      kind = AsInt(value).status();
    }
    if (!value.IsNumber()) return kind;
    // The text that clients know comes first.
    return absl::InvalidArgumentError(
        absl::StrCat(kind.message(), kind.ok() ? "" : ": ", NotInRange<Json>(value)));
  }
}

constexpr char kNotTheShape[] = "Shape does not match true shape of 'data' field";

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
  using Element = TensorElement<Json>;
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
  TensorPlace<Json> place{first, first + room};
  const JsonValue* refused = nullptr;
  CarefulCursor cursor(data, &refused);
  if (!ReadElements<Json>(cursor, kAnyDepth, &place)) {
    if (place.next < place.end) {
      return WithElement(UnableToParse("data", WhyNoElement<Json>(*refused)), *input,
                         static_cast<uint64_t>(place.next - first));
    }
    return UnableToParse(
        "data", absl::InvalidArgumentError(absl::StrCat(
                    kNotTheShape, ": input ", QuotedName(input->name), " has more than the ", count,
                    " elements of its shape ", ShapeToString(input->shape))));
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

absl::Status ReadBytes(const JsonValue& data, uint64_t max_tensor_bytes, RequestBuffers* buffers,
                       V2Input* input) {
  TensorStrings tensor;
  const JsonValue* refused = nullptr;
  CarefulCursor cursor(data, &refused);
  if (!ReadStrings(cursor, kAnyDepth, &tensor)) {
    return WithElement(
        absl::InvalidArgumentError(absl::StrCat("Unable to parse JSON bytes array: ",
                                                AsString(*refused).status().message())),
        *input, tensor.elements);
  }
  const uint64_t byte_size = tensor.bytes.size();
  if (byte_size > max_tensor_bytes) return TooLarge(*input, byte_size, max_tensor_bytes);
  input->byte_size = byte_size;
  input->bytes = buffers->Adopt(std::move(tensor.bytes));
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
  if (input->data_type != DataType::kInvalid) {
    return ByElementType(
        input->data_type,
        [&](auto type) {
          return ReadNumbers<decltype(type)>(data, max_tensor_bytes, count, buffers, input);
        },
        [&] { return ReadBytes(data, max_tensor_bytes, buffers, input); },
        [&] { return OnlyBinary(*input); });
  }
  // The model decides the type, unless the elements sent cannot be read at all.
  if (CountScalars(data) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "invalid datatype for input ", input->name, ": ",
      CheckKnown("datatype", data_type, kDataTypesInJson, MeantType(data_type)).message()));
}

}  // namespace nereid
