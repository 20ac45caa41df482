// SPDX-License-Identifier: Apache-2.0
// Access to the tensors of requests and responses: pieces of an input, one contiguous buffer out
// of many pieces, output buffers, and the wire form of BYTES. CPU memory only.
#ifndef NEREID_BACKENDS_SDK_TENSOR_H_
#define NEREID_BACKENDS_SDK_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "backends/sdk/error.h"
#include "backends/sdk/scratch.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// A range of a tensor's bytes; belongs to the request.
struct Piece {
  const char* data = nullptr;
  size_t size = 0;
};

// An input of a request. Valid until the request is released.
struct InputView {
  TRITONBACKEND_Input* handle = nullptr;
  const char* name = nullptr;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  const int64_t* dims = nullptr;  // with the batch dimension
  uint32_t dim_count = 0;
  uint64_t byte_size = 0;
  uint32_t buffer_count = 0;

  // INVALID_ARG if the request has no such input.
  static Result<InputView> Find(TRITONBACKEND_Request* request, const char* name);
  static Result<InputView> At(TRITONBACKEND_Request* request, uint32_t index);
};

// Appends the non-empty buffers of `input` to `pieces`. UNSUPPORTED if one is not CPU memory.
Error AppendPieces(const InputView& input, std::vector<Piece>* pieces);

size_t TotalSize(const std::vector<Piece>& pieces);

// The bytes of all pieces as one buffer aligned to `alignment` (a power of two). A single piece
// that is already aligned is returned unchanged; otherwise there is one copy, into `scratch`. Never
// null, even if there are no bytes. Valid until the pieces or `scratch` change.
const char* Gather(const std::vector<Piece>& pieces, size_t alignment, Scratch* scratch);

// Copies all pieces to `destination`, which has room for TotalSize(pieces) bytes.
void CopyPieces(const std::vector<Piece>& pieces, char* destination);

// Adds output `name` to `response` and returns its buffer of `byte_size` bytes: never null.
// UNSUPPORTED if the buffer is not CPU memory.
Result<char*> AllocateOutput(TRITONBACKEND_Response* response, const char* name,
                             TRITONSERVER_DataType type, const int64_t* dims, uint32_t dim_count,
                             size_t byte_size);

// Bytes of this backend, with `release` called once they are not read any more (from any thread).
struct LentBytes {
  std::string_view bytes;
  void (*release)(void* userp) = nullptr;
  void* userp = nullptr;
};
// Adds an output whose bytes the server sends from where they are. False if it wants them in a
// buffer: then, and after an error, nothing was taken, and in the first case `*buffer` is that
// buffer, to be filled. For data types with elements of a fixed size.
Result<bool> LendOutput(TRITONBACKEND_Response* response, const char* name,
                        TRITONSERVER_DataType type, const int64_t* dims, uint32_t dim_count,
                        const LentBytes& lent, char** buffer);

// True if the request asks for output `name` (a request that names none asks for all).
bool WantsOutput(TRITONBACKEND_Request* request, std::string_view name);

// Product of the dimensions, or -1 if one is negative or the product does not fit.
int64_t ElementCount(const int64_t* dims, size_t count);

// Splits the wire form of BYTES (4-byte little-endian length before each element) into exactly
// `count` elements, appended to `elements`. INVALID_ARG if the bytes do not have that form.
Error ParseBytes(std::string_view wire, size_t count, std::vector<std::string_view>* elements);

// Bytes that `element` takes on the wire.
inline size_t BytesWireSize(std::string_view element) { return sizeof(uint32_t) + element.size(); }
// Writes `element` and returns the position after it.
char* WriteBytes(std::string_view element, char* destination);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_TENSOR_H_
