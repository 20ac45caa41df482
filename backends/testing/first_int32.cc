// SPDX-License-Identifier: Apache-2.0
#include "backends/testing/first_int32.h"

#include <cstring>
#include <vector>

#include "backends/sdk/tensor.h"

namespace nereid_backend {

Result<int32_t> FirstInt32(TRITONBACKEND_Request* request) {
  uint32_t count = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestInputCount(request, &count));
  std::vector<Piece> pieces;
  for (uint32_t i = 0; i < count; ++i) {
    NB_ASSIGN_OR_RETURN(const InputView input, InputView::At(request, i));
    if (input.type != TRITONSERVER_TYPE_INT32) continue;
    NB_RETURN_IF_ERROR(AppendPieces(input, &pieces));
    int32_t value = 0;
    if (pieces.empty() || pieces[0].size < sizeof(value)) break;
    std::memcpy(&value, pieces[0].data, sizeof(value));
    return value;
  }
  return Error::InvalidArg("testing backend: the request has no INT32 input with an element");
}

}  // namespace nereid_backend
