// SPDX-License-Identifier: Apache-2.0
#include "model/shape.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

namespace nereid {

std::string ShapeToString(absl::Span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ","), "]");
}

std::optional<int64_t> ElementCount(absl::Span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  }
  return count;
}

std::optional<int64_t> TensorByteSize(DataType type, absl::Span<const int64_t> shape) {
  const uint32_t element_size = DataTypeByteSize(type);
  if (element_size == 0) return std::nullopt;
  const std::optional<int64_t> count = ElementCount(shape);
  int64_t bytes;
  if (!count || __builtin_mul_overflow(*count, static_cast<int64_t>(element_size), &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

bool ShapeMatches(absl::Span<const int64_t> pattern, absl::Span<const int64_t> shape) {
  if (pattern.size() != shape.size()) return false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != kVariableDim && pattern[i] != shape[i]) return false;
  }
  return true;
}

}  // namespace nereid
