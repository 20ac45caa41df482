// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/json_tensor_writer.h"

#include <absl/strings/str_cat.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>

#include "base/json_writer.h"
#include "frontends/codec/binary_tensor.h"
#include "model/shape.h"

namespace nereid {
namespace {

struct JsonBool {};

// The longest double has 24 characters; ".0" and a comma may follow.
constexpr size_t kMaxElementText = 32;

char* Put(absl::string_view text, char* at) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

// What stands for a number that is not finite; null: nothing may.
template <typename T>
char* PutNonFinite(T value, NonFinite non_finite, char* at) {
  const char* const name = std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
  switch (non_finite) {
    case NonFinite::kLiteral:
      return Put(name, at);
    case NonFinite::kNull:
      return Put("null", at);
    case NonFinite::kString:
      return Put("\"", Put(name, Put("\"", at)));
    case NonFinite::kError:
      break;
  }
  return nullptr;
}

template <typename T>
char* PutFloat(T value, NonFinite non_finite, char* at) {
  if (!std::isfinite(value)) return PutNonFinite(value, non_finite, at);
  char* const end = std::to_chars(at, at + kMaxElementText, value).ptr;
  // to_chars writes integral values without a point or exponent, so that they look like integers.
  for (const char* c = at; c != end; ++c) {
    if (*c == '.' || *c == 'e') return end;
  }
  return Put(".0", end);
}

// Null if the element has no JSON form.
template <typename Json, typename Element>
char* PutElement(Element value, NonFinite non_finite, char* at) {
  if constexpr (std::is_same_v<Json, JsonBool>) {
    return Put(value != 0 ? "true" : "false", at);
  } else if constexpr (std::is_floating_point_v<Json>) {
    return PutFloat(value, non_finite, at);
  } else {
    return std::to_chars(at, at + kMaxElementText, value).ptr;
  }
}

// Formats into a buffer on the stack, which is appended whenever it is full, so that the string
// neither grows element by element nor is zeroed first.
template <typename Json>
JsonTensorFault AppendNumbers(absl::string_view bytes, int64_t element_count, NonFinite non_finite,
                              std::string* out) {
  using Element = std::conditional_t<std::is_same_v<Json, JsonBool>, uint8_t, Json>;
  if (bytes.size() != static_cast<uint64_t>(element_count) * sizeof(Element)) {
    return {JsonTensorFault::kNotElements};
  }
  char piece[4096];
  char* at = piece;
  *at++ = '[';
  for (int64_t i = 0; i < element_count; ++i) {
    if (i > 0) *at++ = ',';
    Element value;
    std::memcpy(&value, bytes.data() + static_cast<size_t>(i) * sizeof(value), sizeof(value));
    at = PutElement<Json>(value, non_finite, at);
    if constexpr (std::is_floating_point_v<Json>) {
      if (at == nullptr) return {JsonTensorFault::kNonFinite, i};
    }
    if (at > piece + sizeof(piece) - 2 * kMaxElementText) {
      out->append(piece, static_cast<size_t>(at - piece));
      at = piece;
    }
  }
  *at++ = ']';
  out->append(piece, static_cast<size_t>(at - piece));
  return {};
}

JsonTensorFault AppendStrings(absl::string_view bytes, int64_t element_count, std::string* out) {
  BytesElements elements(bytes);
  absl::string_view element;
  int64_t count = 0;
  *out += '[';
  while (elements.Next(&element)) {
    if (count > 0) *out += ',';
    if (!AppendJsonString(element, out)) return {JsonTensorFault::kNotUtf8, count};
    ++count;
  }
  *out += ']';
  if (elements.complete() && count == element_count) return {};
  return {JsonTensorFault::kNotElements};
}

absl::Status NoJsonForm(absl::string_view name, const JsonTensorFault& fault) {
  const bool text = fault.kind == JsonTensorFault::kNotUtf8;
  return absl::InvalidArgumentError(absl::StrCat(
      "output '", name, "' cannot be sent as JSON: element ", fault.element,
      text ? " is not UTF-8" : " is NaN or infinite",
      ". Ask infer for it as a binary output ('binary_data': true)",
      text ? "" : absl::StrCat(", or for another '", kNonFiniteParameter, "' than 'error'"), "."));
}

}  // namespace

size_t EstimateJsonTensorSize(DataType type, size_t byte_size) {
  switch (type) {
    case DataType::kBool:
      return byte_size * 6 + 2;
    case DataType::kUint8:
    case DataType::kInt8:
      return byte_size * 4 + 2;
    case DataType::kFp32:
      return byte_size * 3 + 2;
    case DataType::kFp64:
      return byte_size * 25 / 8 + 2;
    default:
      return byte_size * 5 / 2 + 2;
  }
}

JsonTensorFault AppendJsonTensor(DataType type, absl::string_view bytes, int64_t element_count,
                                 NonFinite non_finite, std::string* out) {
  switch (type) {
    case DataType::kBool:
      return AppendNumbers<JsonBool>(bytes, element_count, non_finite, out);
    case DataType::kUint8:
      return AppendNumbers<uint8_t>(bytes, element_count, non_finite, out);
    case DataType::kUint16:
      return AppendNumbers<uint16_t>(bytes, element_count, non_finite, out);
    case DataType::kUint32:
      return AppendNumbers<uint32_t>(bytes, element_count, non_finite, out);
    case DataType::kUint64:
      return AppendNumbers<uint64_t>(bytes, element_count, non_finite, out);
    case DataType::kInt8:
      return AppendNumbers<int8_t>(bytes, element_count, non_finite, out);
    case DataType::kInt16:
      return AppendNumbers<int16_t>(bytes, element_count, non_finite, out);
    case DataType::kInt32:
      return AppendNumbers<int32_t>(bytes, element_count, non_finite, out);
    case DataType::kInt64:
      return AppendNumbers<int64_t>(bytes, element_count, non_finite, out);
    case DataType::kFp32:
      return AppendNumbers<float>(bytes, element_count, non_finite, out);
    case DataType::kFp64:
      return AppendNumbers<double>(bytes, element_count, non_finite, out);
    case DataType::kBytes:
      return AppendStrings(bytes, element_count, out);
    case DataType::kFp16:
    case DataType::kBf16:
    case DataType::kInvalid:
      break;
  }
  return {JsonTensorFault::kNotElements};
}

absl::Status AppendJsonOutput(absl::string_view name, DataType type,
                              absl::Span<const int64_t> shape, absl::string_view bytes,
                              NonFinite non_finite, std::string* out) {
  if (type == DataType::kFp16 || type == DataType::kBf16) {
    return absl::InvalidArgumentError(absl::StrCat(
        "sending ", DataTypeName(type),
        " data via JSON is not supported. Please use the binary data format for output"));
  }
  const std::optional<int64_t> count = ElementCount(shape);
  JsonTensorFault fault{JsonTensorFault::kNotElements};
  if (count.has_value()) fault = AppendJsonTensor(type, bytes, *count, non_finite, out);
  if (fault.ok()) return absl::OkStatus();
  if (fault.kind != JsonTensorFault::kNotElements) return NoJsonForm(name, fault);
  return absl::InternalError(absl::StrCat(
      "Failed to write 'data' field: output tensor shape does not match size of output for '", name,
      "'"));
}

}  // namespace nereid
