// SPDX-License-Identifier: Apache-2.0
#include "printed_tensor.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/json_writer.h"
#include "frontends/codec/binary_tensor.h"
#include "frontends/codec/json_tensor_writer.h"

namespace nereid {
namespace {

constexpr int64_t kMostPrinted = 100;

template <typename T>
void AppendOne(std::string* bytes) {
  const T one = 1;
  bytes->append(reinterpret_cast<const char*>(&one), sizeof(one));
}

void AppendBits(uint16_t bits, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&bits), sizeof(bits));
}

void AppendSample(DataType type, std::string* bytes) {
  switch (type) {
    case DataType::kBool:
    case DataType::kUint8:
    case DataType::kInt8:
      return AppendOne<uint8_t>(bytes);
    case DataType::kUint16:
    case DataType::kInt16:
      return AppendOne<uint16_t>(bytes);
    case DataType::kUint32:
    case DataType::kInt32:
      return AppendOne<uint32_t>(bytes);
    case DataType::kUint64:
    case DataType::kInt64:
      return AppendOne<uint64_t>(bytes);
    case DataType::kFp16:
      return AppendBits(0x3c00, bytes);
    case DataType::kBf16:
      return AppendBits(0x3f80, bytes);
    case DataType::kFp32:
      return AppendOne<float>(bytes);
    case DataType::kFp64:
      return AppendOne<double>(bytes);
    case DataType::kBytes:
      return AppendBytesElement("sample", bytes);
    case DataType::kInvalid:
      return;
  }
}

float FromBf16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

float FromFp16(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const auto fraction = static_cast<float>(bits & 0x3ff);
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 0x1f) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// FP16 and BF16, which have no form in the protocol's JSON.
void AppendSmallFloats(DataType type, absl::string_view bytes, std::string* out) {
  *out += '[';
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
    uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + i, sizeof(bits));
    if (i > 0) *out += ',';
    AppendJsonFloat(type == DataType::kFp16 ? FromFp16(bits) : FromBf16(bits), out);
  }
  *out += ']';
}

// Strings, which need not be UTF-8 to be looked at.
bool AppendTexts(absl::string_view bytes, int64_t count, std::string* out) {
  BytesElements elements(bytes);
  absl::string_view element;
  *out += '[';
  int64_t read = 0;
  for (; elements.Next(&element); ++read) {
    if (read > 0) *out += ',';
    AppendJsonString(element, out);
  }
  *out += ']';
  return elements.complete() && read == count;
}

bool AppendValues(DataType type, absl::string_view bytes, int64_t count, std::string* out) {
  if (type == DataType::kBytes) return AppendTexts(bytes, count, out);
  return AppendJsonTensor(type, bytes, count, NonFinite::kLiteral, out).ok();
}

// Bytes of the first `count` elements.
absl::string_view First(DataType type, absl::string_view bytes, int64_t count) {
  if (type != DataType::kBytes) {
    return bytes.substr(0, static_cast<size_t>(count) * DataTypeByteSize(type));
  }
  BytesElements elements(bytes);
  absl::string_view element;
  const char* end = bytes.data();
  for (int64_t i = 0; i < count && elements.Next(&element); ++i) {
    end = element.data() + element.size();
  }
  return bytes.substr(0, static_cast<size_t>(end - bytes.data()));
}

}  // namespace

std::string SampleTensor(DataType type, int64_t elements) {
  std::string bytes;
  for (int64_t i = 0; i < elements; ++i) AppendSample(type, &bytes);
  return bytes;
}

std::string PrintTensor(absl::string_view name, DataType type, const Shape& shape,
                        absl::string_view bytes) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  std::string text =
      absl::StrCat(name, "  ", DataTypeName(type), " [", absl::StrJoin(shape, ","), "]  ");
  const int64_t printed = std::min(count, kMostPrinted);
  const absl::string_view first = First(type, bytes, printed);
  std::string values;
  if (type == DataType::kFp16 || type == DataType::kBf16) {
    AppendSmallFloats(type, first, &values);
  } else if (!AppendValues(type, first, printed, &values)) {
    return absl::StrCat(text, bytes.size(), " bytes, which is not as many as its shape says");
  }
  text += values;
  if (printed < count) {
    text.back() = ',';
    absl::StrAppend(&text, "...]  (", count, " elements)");
  }
  return text;
}

}  // namespace nereid
