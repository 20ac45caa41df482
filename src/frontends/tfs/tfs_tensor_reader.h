// SPDX-License-Identifier: Apache-2.0
// One input tensor from the JSON of TensorFlow Serving's API, in which the nesting of the lists is
// the shape. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_TFS_TFS_TENSOR_READER_H_
#define NEREID_FRONTENDS_TFS_TFS_TENSOR_READER_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>

#include "config/compiled_model.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/request_buffers.h"
#include "infer/infer_request.h"
#include "model/data_type.h"

namespace nereid {

// The values of one input.
struct TfsValues {
  absl::string_view key;  // the client's name for the input
  // Those of the first dimension, in order; a scalar if `scalar`.
  absl::Span<const JsonValue* const> rows;
  bool scalar = false;
  // Each value is a feature: a value, or a flat list of what the input takes for a row.
  bool features = false;
};

// What `read` returns for an element of `type`, or `otherwise()` for a type that is no number in
// the JSON of this API.
template <typename Read, typename Otherwise>
auto ReadAsElement(DataType type, const Read& read, const Otherwise& otherwise) {
  switch (type) {
    case DataType::kBool:
      return read(bool{});
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
    default:
      return otherwise();
  }
}

// A string of bytes: {"b64": "..."}.
bool IsBase64Object(const JsonValue& value);

// What an input of `model` that takes a single element for each row of a batch has behind the first
// dimension: nothing for clients of this API, although the model's configuration has dims: [ 1 ].
inline bool IsElementPerRow(const CompiledModel& model, const Shape& dims) {
  return model.max_batch_size > 0 && dims.size() == 1 && dims.front() == 1;
}

// Adds `values` to `request` as the input `spec` of its model, with memory from `buffers`, at most
// `max_bytes`. INVALID_ARGUMENT if they are no tensor of its type.
absl::Status AddTfsInput(const TfsValues& values, const InputSpec& spec, uint64_t max_bytes,
                         InferRequest* request, RequestBuffers* buffers);

// The same for `size` bytes of a tensor that is read already, with `shape` as its lists have it.
absl::Status AddTfsTensor(const InputSpec& spec, bool features, Shape shape, const char* bytes,
                          size_t size, InferRequest* request);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TFS_TFS_TENSOR_READER_H_
