// A response as one run of bytes, and back. Stateless.
//
//   uint32 number of outputs, and of each: uint64 bytes that follow for it; uint32 length, name;
//   uint32 length, data type as in the protocol ("FP32"); uint32 length, dimensions as int64;
//   uint64 length, data.
//   uint32 number of parameters, and of each: uint32 length, name; uint8 kind (the index of
//   ParameterValue); uint32 length, value.
//
// In the byte order of the machine. The part before the parameters is as in the original.
#ifndef NEREID_CACHE_PACKED_RESPONSE_H_
#define NEREID_CACHE_PACKED_RESPONSE_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstddef>

#include "base/export.h"
#include "infer/response.h"

namespace nereid {

// INVALID_ARGUMENT if an output does not lie in memory of the CPU.
NEREID_API absl::Status CheckPackable(const InferResponse& response);
// REQUIRES (both): CheckPackable(response).
NEREID_API size_t PackedSize(const InferResponse& response);
NEREID_API void PackResponse(const InferResponse& response, char* to);

// Adds what was packed to `response`, an empty one, in buffers of its allocator. INVALID_ARGUMENT
// when `bytes` are no packed response of that model (they may come from anywhere), the allocator's
// error when it has no buffer on the CPU; `response` is then to be thrown away.
NEREID_API absl::Status UnpackResponse(absl::string_view bytes, InferResponse* response);

}  // namespace nereid

#endif  // NEREID_CACHE_PACKED_RESPONSE_H_
