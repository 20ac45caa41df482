// SPDX-License-Identifier: Apache-2.0
// Reads the body of a v2 inference request (JSON with an optional binary part, the HTTP protocol's
// "Inference" request) into an InferRequest. Pure functions, thread-safe.
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

// Bytes after the body that must be readable; their content does not matter.
inline constexpr size_t kBodyPadding = 64;

// A received (and decompressed) body. Binary tensors become views into it, so it must live,
// unmoved, until the request is released. Ideally `data + *header_length` is a multiple of 64: then
// the first binary tensor, and each one that follows tensors of round sizes, needs no copy.
struct V2RequestBody {
  const char* data = nullptr;
  size_t size = 0;
  // Value of Inference-Header-Content-Length: bytes of JSON at the front; the rest is binary
  // tensors. None: the whole body is JSON. 0: there is no JSON, and the body is the model's single
  // input.
  std::optional<size_t> header_length;
};

// Fills `request` (fresh, for a model), `buffers` with the memory that must stay alive for it, and
// the `formats` of the outputs, in which formats->non_finite is what holds unless the request says
// otherwise. INVALID_ARGUMENT for a mistake of the client, NOT_FOUND for a
// shared-memory region; `request` is then incomplete and must be discarded, and `buffers` may be
// cleared.
absl::Status ReadV2Request(const V2RequestBody& body, const RequestLimits& limits,
                           InferRequest* request, RequestBuffers* buffers, OutputFormats* formats);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_V2_REQUEST_READER_H_
