// SPDX-License-Identifier: Apache-2.0
// Writes an InferResponse as the body of a v2 inference response: a JSON text, followed by the
// outputs requested in binary as views of the response's own buffers. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_V2_RESPONSE_WRITER_H_
#define NEREID_FRONTENDS_CODEC_V2_RESPONSE_WRITER_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/statusor.h>
#include <absl/types/span.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontends/codec/output_formats.h"
#include "infer/response.h"

namespace nereid {

// A body ready for one vectored write: `json`, then `tensors` in order. The views are valid as long
// as the body and the response that it was written from; moving either keeps them valid.
struct ResponseBody {
  std::string json;
  absl::InlinedVector<absl::Span<const char>, 2> tensors;  // none is empty
  uint64_t tensor_bytes = 0;

  // True: the header Inference-Header-Content-Length must be header_length().
  bool has_binary() const { return tensor_bytes > 0; }
  size_t header_length() const { return json.size(); }
  uint64_t byte_size() const { return json.size() + tensor_bytes; }
  const char* content_type() const {
    return has_binary() ? "application/octet-stream" : "application/json";
  }

  // Bytes of outputs that the writer produced (classification); `tensors` may point to them.
  std::vector<std::unique_ptr<std::string>> made;
};

// Estimate of the size of the JSON text; its memory is charged before it is written.
size_t EstimateJsonSize(const InferResponse& response, const OutputFormats& formats);
// Estimate of the size of the whole body. An output to be classified counts with the cost of
// looking at it, which is more than the size of its text.
size_t EstimateBodySize(const InferResponse& response, const OutputFormats& formats);

// INVALID_ARGUMENT if an output or a parameter has no JSON form that was asked for, INTERNAL if its
// bytes do not fit its shape. REQUIRES: response.status().ok(); buffers in CPU memory.
absl::StatusOr<ResponseBody> WriteV2Response(const InferResponse& response,
                                             const OutputFormats& formats);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_V2_RESPONSE_WRITER_H_
