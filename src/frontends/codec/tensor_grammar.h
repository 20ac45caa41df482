// SPDX-License-Identifier: Apache-2.0
// The grammar of a tensor in JSON: nested or flat lists of elements, row-major, and which JSON
// value is an element of which data type. Both readers (fast_tensor.h, careful_tensor.h) use it, so
// that they cannot differ in what they accept. It has no error texts and no limits on bytes of its
// own: those belong to the readers. Pure functions.
//
// A cursor is a small value that stands at one JSON value and lets the grammar read it:
//   bool Get(bool* | int64_t* | uint64_t* | double* | std::string_view*)
//       false if the value is of another kind or does not fit; the cursor still stands there. A
//       text that it gives lives until the next read.
//   bool ForEach(visit)
//       calls `visit` with a cursor for each item of an array, until one returns false. False, too,
//       for a value that is no array.
#ifndef NEREID_FRONTENDS_CODEC_TENSOR_GRAMMAR_H_
#define NEREID_FRONTENDS_CODEC_TENSOR_GRAMMAR_H_

#include <absl/strings/string_view.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "frontends/codec/binary_tensor.h"
#include "model/data_type.h"

namespace nereid {

// The element type of BOOL tensors, which are bytes but true and false in JSON. It tells them from
// UINT8.
struct JsonBool {};

template <typename Json>
using TensorElement = std::conditional_t<std::is_same_v<Json, JsonBool>, uint8_t, Json>;

// Where the next element of a tensor goes.
template <typename Json>
struct TensorPlace {
  TensorElement<Json>* next;
  TensorElement<Json>* end;
};

// A BYTES tensor as it grows.
struct TensorStrings {
  std::string bytes;
  uint64_t elements = 0;
  // Reading stops, as at a value that is no element, when `bytes` is longer.
  uint64_t max_bytes = std::numeric_limits<uint64_t>::max();
};

// Half a unit beyond the largest FP32: the first number that becomes infinity.
inline constexpr double kFirstBeyondFp32 = 0x1.ffffffp+127;

// Reads one element of the type `Json`. False if there is none or if it is out of range; `*out` may
// have changed then.
template <typename Json, typename Cursor>
bool ReadElement(Cursor& value, TensorElement<Json>* out) {
  if constexpr (std::is_same_v<Json, JsonBool>) {
    bool read;
    if (!value.Get(&read)) return false;
    *out = read ? 1 : 0;
  } else if constexpr (std::is_floating_point_v<Json>) {
    double read;
    if (!value.Get(&read)) return false;
    if constexpr (sizeof(Json) < sizeof(read)) {
      // NaN and infinities are elements where the cursor knows them; a finite number that would
      // become one is a mistake of the client.
      if (!(std::abs(read) < kFirstBeyondFp32) && std::isfinite(read)) [[unlikely]]
        return false;
    }
    *out = static_cast<Json>(read);
  } else {
    std::conditional_t<std::is_unsigned_v<Json>, uint64_t, int64_t> read;
    if (!value.Get(&read)) return false;
    *out = static_cast<Json>(read);
    return *out == read;
  }
  return true;
}

// Reads the elements of the array `list`, which nests at most `levels` deep, into `*place`. False
// at the first value that is no element or has no place left: `place->next` is where it would be.
template <typename Json, typename Cursor>
bool ReadElements(Cursor& list, int levels, TensorPlace<Json>* place) {
  if (levels == 0) return false;
  return list.ForEach([&](Cursor& item) {
    // An element first, because they are far more frequent than arrays, and a failed read leaves
    // the cursor where it was.
    if (place->next != place->end && ReadElement<Json>(item, place->next)) {
      ++place->next;
      return true;
    }
    return ReadElements<Json>(item, levels - 1, place);
  });
}

// Reads one element of a BYTES tensor.
template <typename Cursor>
bool ReadString(Cursor& value, TensorStrings* tensor) {
  std::string_view text;
  if (!value.Get(&text)) return false;
  AppendBytesElement(absl::string_view(text.data(), text.size()), &tensor->bytes);
  ++tensor->elements;
  return true;
}

// As ReadElements, for BYTES.
template <typename Cursor>
bool ReadStrings(Cursor& list, int levels, TensorStrings* tensor) {
  if (levels == 0) return false;
  return list.ForEach([&](Cursor& item) {
    if (ReadString(item, tensor)) return tensor->bytes.size() <= tensor->max_bytes;
    return ReadStrings(item, levels - 1, tensor);
  });
}

// The data types that have a form in JSON: returns numbers(x) with `x` of the element type that
// ReadElements takes, or strings() for BYTES, or none() for a type that has no such form.
template <typename Numbers, typename Strings, typename None>
auto ByElementType(DataType type, Numbers numbers, Strings strings, None none) {
  switch (type) {
    case DataType::kBool:
      return numbers(JsonBool{});
    case DataType::kUint8:
      return numbers(uint8_t{});
    case DataType::kUint16:
      return numbers(uint16_t{});
    case DataType::kUint32:
      return numbers(uint32_t{});
    case DataType::kUint64:
      return numbers(uint64_t{});
    case DataType::kInt8:
      return numbers(int8_t{});
    case DataType::kInt16:
      return numbers(int16_t{});
    case DataType::kInt32:
      return numbers(int32_t{});
    case DataType::kInt64:
      return numbers(int64_t{});
    case DataType::kFp32:
      return numbers(float{});
    case DataType::kFp64:
      return numbers(double{});
    case DataType::kBytes:
      return strings();
    case DataType::kFp16:
    case DataType::kBf16:
    case DataType::kInvalid:
      break;
  }
  return none();
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_TENSOR_GRAMMAR_H_
