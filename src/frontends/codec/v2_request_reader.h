// Reads the body of a v2 inference request (spec: HTTP "Inference", JSON with an optional binary
// part) into an InferRequest. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_V2_REQUEST_READER_H_
#define NEREID_FRONTENDS_CODEC_V2_REQUEST_READER_H_

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "frontends/codec/output_formats.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "infer/infer_request.h"

namespace nereid {

// Bytes behind the body that must be readable; what they hold does not matter.
inline constexpr size_t kBodyPadding = 64;

// A received (and decompressed) body. Binary tensors become views into it, so it lives, unmoved,
// until the request is released. Best placed so that `data + *header_length` is a multiple of 64:
// then the first binary tensor, and each that follows tensors of round sizes, is not copied.
struct V2RequestBody {
  const char* data = nullptr;
  size_t size = 0;
  // Value of Inference-Header-Content-Length: bytes of JSON at the front, the rest being binary
  // tensors. None: all of the body is JSON. 0: no JSON, the body is the model's single input.
  std::optional<size_t> header_length;
};

// Fills `request` (fresh, for a model), what `buffers` has to keep alive and the `formats` of the
// outputs. INVALID_ARGUMENT for a mistake of the client, NOT_FOUND for a shared-memory region;
// `request` is then half filled and of no use, `buffers` may be cleared.
absl::Status ReadV2Request(const V2RequestBody& body, const RequestLimits& limits,
                           InferRequest* request, RequestBuffers* buffers,
                           OutputFormats* formats);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_V2_REQUEST_READER_H_
