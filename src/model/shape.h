// SPDX-License-Identifier: Apache-2.0
// Shapes of tensors: dimensions in row-major order, -1 for a variable dimension.
#ifndef NEREID_MODEL_SHAPE_H_
#define NEREID_MODEL_SHAPE_H_

#include <absl/container/inlined_vector.h>
#include <absl/types/span.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/export.h"
#include "model/data_type.h"

namespace nereid {

inline constexpr int64_t kVariableDim = -1;

// Ranks up to 6 need no allocation.
using Shape = absl::InlinedVector<int64_t, 6>;

// "[-1,16]": no spaces, as in every client-visible text.
NEREID_API std::string ShapeToString(absl::Span<const int64_t> shape);

// Product of the dimensions (1 for rank 0); none if a dimension is negative or the product does
// not fit an int64.
NEREID_API std::optional<int64_t> ElementCount(absl::Span<const int64_t> shape);

// ElementCount times the element size; none if that overflows, or for BYTES.
NEREID_API std::optional<int64_t> TensorByteSize(DataType type, absl::Span<const int64_t> shape);

// True if `shape` has the rank of `pattern` and equals it in every dimension that is not variable.
NEREID_API bool ShapeMatches(absl::Span<const int64_t> pattern, absl::Span<const int64_t> shape);

}  // namespace nereid

#endif  // NEREID_MODEL_SHAPE_H_
