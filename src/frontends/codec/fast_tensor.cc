// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/fast_tensor.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "frontends/codec/binary_tensor.h"

namespace nereid {

namespace ondemand = simdjson::ondemand;

bool ReadDoubleFast(ondemand::value& value, double* out) {
  // simdjson 3.0.1 gets some fractions of more than 19 digits wrong by orders of magnitude. Longer
  // texts are therefore converted by the standard library.
  constexpr size_t kTrustedLength = 19;
  const std::string_view token = value.raw_json_token();
  if (value.get_double().get(*out)) return false;
  if (token.size() <= kTrustedLength) return true;
  return std::from_chars(token.data(), token.data() + token.size(), *out).ec == std::errc();
}

namespace {

struct JsonBool {};

// Half a unit beyond the largest FP32: the first number that becomes infinity.
constexpr double kFirstBeyondFp32 = 0x1.ffffffp+127;

// The place of the next element. Bool tensors are bytes.
template <typename Json>
struct Place {
  using Element = std::conditional_t<std::is_same_v<Json, JsonBool>, uint8_t, Json>;
  Element* next;
  Element* end;
};

template <typename Json, typename Element>
bool ReadScalar(ondemand::value& value, Element* out) {
  if constexpr (std::is_same_v<Json, JsonBool>) {
    bool read;
    if (value.get_bool().get(read)) return false;
    *out = read ? 1 : 0;
  } else if constexpr (std::is_floating_point_v<Json>) {
    double read;
    if (!ReadDoubleFast(value, &read)) return false;
    // A double of the text is finite.
    if constexpr (sizeof(Json) < sizeof(read)) {
      if (!(std::abs(read) < kFirstBeyondFp32)) [[unlikely]]
        return false;
    }
    *out = static_cast<Json>(read);
  } else {
    std::conditional_t<std::is_unsigned_v<Json>, uint64_t, int64_t> read;
    if (value.get(read)) return false;
    *out = static_cast<Json>(read);
    return *out == read;
  }
  return true;
}

// Tries to read a scalar first, because elements are far more frequent than arrays, and a failed
// read leaves the value as it was.
template <typename Json>
bool Flatten(ondemand::array array, int levels_left, Place<Json>* place) {
  if (levels_left == 0) return false;
  for (auto item : array) {
    ondemand::value value;
    if (std::move(item).get(value)) return false;
    if (place->next != place->end && ReadScalar<Json>(value, place->next)) {
      ++place->next;
      continue;
    }
    ondemand::array inner;
    if (value.get_array().get(inner) || !Flatten<Json>(inner, levels_left - 1, place)) return false;
  }
  return true;
}

bool FlattenStrings(ondemand::array array, int levels_left, uint64_t max_bytes,
                    std::string* tensor) {
  if (levels_left == 0) return false;
  for (auto item : array) {
    ondemand::value value;
    if (std::move(item).get(value)) return false;
    std::string_view text;
    if (!value.get_string().get(text)) {
      AppendBytesElement(absl::string_view(text.data(), text.size()), tensor);
      if (tensor->size() > max_bytes) return false;
      continue;
    }
    ondemand::array inner;
    if (value.get_array().get(inner) ||
        !FlattenStrings(inner, levels_left - 1, max_bytes, tensor)) {
      return false;
    }
  }
  return true;
}

template <typename Json>
bool FillNumbers(ondemand::array array, const TensorBounds& bounds, Place<Json>* place) {
  return Flatten<Json>(array, bounds.max_depth, place);
}

template <typename Json>
bool FillNumbers(ondemand::value element, const TensorBounds& /*bounds*/, Place<Json>* place) {
  return place->next != place->end && ReadScalar<Json>(element, place->next++);
}

bool FillStrings(ondemand::array array, const TensorBounds& bounds, std::string* tensor) {
  return FlattenStrings(array, bounds.max_depth, bounds.max_bytes, tensor);
}

bool FillStrings(ondemand::value element, const TensorBounds& bounds, std::string* tensor) {
  std::string_view text;
  if (element.get_string().get(text)) return false;
  AppendBytesElement(absl::string_view(text.data(), text.size()), tensor);
  return tensor->size() <= bounds.max_bytes;
}

// `Data` is an array, or the value of a single element.
template <typename Json, typename Data>
bool ReadNumbers(Data data, const TensorBounds& bounds, RequestBuffers* buffers, V2Input* input) {
  using Element = typename Place<Json>::Element;
  const std::optional<int64_t> count = ElementCount(input->shape);
  if (!count || static_cast<uint64_t>(*count) > bounds.max_elements) return false;
  const uint64_t byte_size = static_cast<uint64_t>(*count) * sizeof(Element);
  if (byte_size > bounds.max_bytes) return false;
  char* bytes = buffers->Allocate(byte_size);
  if (bytes == nullptr) return false;
  auto* first = reinterpret_cast<Element*>(bytes);
  Place<Json> place{first, first + *count};
  if (!FillNumbers<Json>(data, bounds, &place) || place.next != place.end) return false;
  input->bytes = bytes;
  input->byte_size = byte_size;
  return true;
}

template <typename Data>
bool ReadStrings(Data data, const TensorBounds& bounds, RequestBuffers* buffers, V2Input* input) {
  if (!ElementCount(input->shape)) return false;
  std::string tensor;
  if (!FillStrings(data, bounds, &tensor)) return false;
  input->byte_size = tensor.size();
  input->bytes = buffers->Adopt(std::move(tensor));
  return input->bytes != nullptr;
}

template <typename Data>
bool ReadData(Data data, const TensorBounds& bounds, RequestBuffers* buffers, V2Input* input) {
  switch (input->data_type) {
    case DataType::kBool:
      return ReadNumbers<JsonBool>(data, bounds, buffers, input);
    case DataType::kUint8:
      return ReadNumbers<uint8_t>(data, bounds, buffers, input);
    case DataType::kUint16:
      return ReadNumbers<uint16_t>(data, bounds, buffers, input);
    case DataType::kUint32:
      return ReadNumbers<uint32_t>(data, bounds, buffers, input);
    case DataType::kUint64:
      return ReadNumbers<uint64_t>(data, bounds, buffers, input);
    case DataType::kInt8:
      return ReadNumbers<int8_t>(data, bounds, buffers, input);
    case DataType::kInt16:
      return ReadNumbers<int16_t>(data, bounds, buffers, input);
    case DataType::kInt32:
      return ReadNumbers<int32_t>(data, bounds, buffers, input);
    case DataType::kInt64:
      return ReadNumbers<int64_t>(data, bounds, buffers, input);
    case DataType::kFp32:
      return ReadNumbers<float>(data, bounds, buffers, input);
    case DataType::kFp64:
      return ReadNumbers<double>(data, bounds, buffers, input);
    case DataType::kBytes:
      return ReadStrings(data, bounds, buffers, input);
    case DataType::kFp16:
    case DataType::kBf16:
    case DataType::kInvalid:
      return false;
  }
  return false;
}

}  // namespace

bool ReadTensorFast(ondemand::value data, const TensorBounds& bounds, RequestBuffers* buffers,
                    V2Input* input) {
  ondemand::array array;
  return !data.get_array().get(array) && ReadData(array, bounds, buffers, input);
}

bool ReadElementFast(ondemand::value element, const TensorBounds& bounds, RequestBuffers* buffers,
                     V2Input* input) {
  return ReadData(element, bounds, buffers, input);
}

}  // namespace nereid
