// SPDX-License-Identifier: Apache-2.0
// Packs a response into one run of bytes, and unpacks it. Stateless.
//
//   uint32 number of outputs, and of each: uint64 bytes that follow for it; uint32 length, name;
//   uint32 length, data type as in the protocol ("FP32"); uint32 length, dimensions as int64;
//   uint64 length, data.
//   uint32 number of parameters, and of each: uint32 length, name; uint8 kind (the index of
//   ParameterValue); uint32 length, value.
//
// In the byte order of the machine. The part before the parameters has the same layout as in
// Triton.
#ifndef NEREID_CACHE_PACKED_RESPONSE_H_
#define NEREID_CACHE_PACKED_RESPONSE_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstddef>

#include "base/export.h"
#include "infer/response.h"

namespace nereid {

// INVALID_ARGUMENT if an output is not in CPU memory.
NEREID_API absl::Status CheckPackable(const InferResponse& response);
// REQUIRES (both): CheckPackable(response).
NEREID_API size_t PackedSize(const InferResponse& response);
NEREID_API void PackResponse(const InferResponse& response, char* to);

// Adds what was packed to `response`, which is empty, using buffers of its allocator.
// INVALID_ARGUMENT if `bytes` are not a packed response of that model (the bytes may come from
// anywhere), the allocator's error if it has no CPU buffer. After an error `response` must be
// discarded.
NEREID_API absl::Status UnpackResponse(absl::string_view bytes, InferResponse* response);

}  // namespace nereid

#endif  // NEREID_CACHE_PACKED_RESPONSE_H_
