// SPDX-License-Identifier: Apache-2.0
// Writes the elements of a tensor as a flat JSON array. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_JSON_TENSOR_WRITER_H_
#define NEREID_FRONTENDS_CODEC_JSON_TENSOR_WRITER_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "frontends/codec/non_finite.h"
#include "model/data_type.h"

namespace nereid {

// Estimate of the bytes that AppendJsonTensor will append, for reserving memory.
size_t EstimateJsonTensorSize(DataType type, size_t byte_size);

// Why a tensor has no JSON form, and the first element that has none.
struct JsonTensorFault {
  enum Kind : uint8_t {
    kNone,
    kNotElements,  // not as many elements as were said, or a type without JSON form (FP16, BF16)
    kNotUtf8,
    kNonFinite,
  };
  Kind kind = kNone;
  int64_t element = 0;

  bool ok() const { return kind == kNone; }
};

// Appends "[e,e,...]": floating-point numbers in the form of base/json_writer.h, with NaN and the
// infinities as `non_finite` says, BOOL as true and false, BYTES elements as strings. After a fault
// the appended text is unspecified.
JsonTensorFault AppendJsonTensor(DataType type, absl::string_view bytes, int64_t element_count,
                                 NonFinite non_finite, std::string* out);

// As AppendJsonTensor, for output `name` of a response: INVALID_ARGUMENT for a type or a value
// without JSON form, INTERNAL if `bytes` does not fit `shape`.
absl::Status AppendJsonOutput(absl::string_view name, DataType type,
                              absl::Span<const int64_t> shape, absl::string_view bytes,
                              NonFinite non_finite, std::string* out);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_JSON_TENSOR_WRITER_H_
