// SPDX-License-Identifier: Apache-2.0
#include "backends/testing/placed.h"

namespace nereid_backend {

Result<std::vector<Placed>> PiecesOf(const InputView& input, int32_t gpu) {
  std::vector<Placed> pieces;
  for (uint32_t i = 0; i < input.buffer_count; ++i) {
    Placed& piece = pieces.emplace_back();
    piece.id = gpu;
    const void* base = nullptr;
    uint64_t byte_size = 0;
    NB_RETURN_IF_ERROR(
        TRITONBACKEND_InputBuffer(input.handle, i, &base, &byte_size, &piece.type, &piece.id));
    piece.base = const_cast<void*>(base);
    piece.byte_size = byte_size;
  }
  return pieces;
}

}  // namespace nereid_backend
