// SPDX-License-Identifier: Apache-2.0
// What a request costs in memory in addition to the bytes of its tensors.
#ifndef NEREID_INFER_REQUEST_COST_H_
#define NEREID_INFER_REQUEST_COST_H_

#include <cstdint>

namespace nereid {

// Bytes that a frontend charges for each request, of whatever size, as long as the request is in
// the core: the objects of the frontend and of the core, queue entries, names and shapes. Measured
// with 20,000 small requests waiting for a model (docs/adr/0014-limits.md).
inline constexpr uint64_t kRequestCost = 8 << 10;

}  // namespace nereid

#endif  // NEREID_INFER_REQUEST_COST_H_
