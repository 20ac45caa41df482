// Writes the elements of a tensor as a flat JSON array. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_JSON_TENSOR_WRITER_H_
#define NEREID_FRONTENDS_CODEC_JSON_TENSOR_WRITER_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/data_type.h"

namespace nereid {

// Estimate of the bytes that AppendJsonTensor will append, for reserving memory.
size_t EstimateJsonTensorSize(DataType type, size_t byte_size);

// Appends "[e,e,...]": floating-point numbers in the form of base/json_writer.h, BOOL as true and
// false, BYTES elements as strings. Returns false, and leaves the appended text unspecified, if
// `bytes` is not exactly `element_count` elements or if the type has no JSON form (FP16, BF16).
bool AppendJsonTensor(DataType type, absl::string_view bytes, int64_t element_count,
                      std::string* out);

// As AppendJsonTensor, for output `name` of a response: INVALID_ARGUMENT for a type without JSON
// form, INTERNAL if `bytes` does not fit `shape`.
absl::Status AppendJsonOutput(absl::string_view name, DataType type,
                              absl::Span<const int64_t> shape, absl::string_view bytes,
                              std::string* out);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_JSON_TENSOR_WRITER_H_
