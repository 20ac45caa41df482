// SPDX-License-Identifier: Apache-2.0
// Which requests are recorded to a file where not all are. A pure function.
#ifndef NEREID_OBSERVE_RECORD_RECORD_SAMPLE_H_
#define NEREID_OBSERVE_RECORD_RECORD_SAMPLE_H_

#include <cstdint>

namespace nereid {

// Whether the request that came at `request_start` (nanoseconds) is one of the chosen `share`, from
// 0 to 1. Depends on nothing else, so that all who record parts of a request choose alike.
inline bool IsInSample(uint64_t request_start, double share) {
  // Spreads requests that came at nearly the same time.
  const uint64_t spread = (request_start ^ request_start >> 29) * 0x9E3779B97F4A7C15u;
  return static_cast<double>(spread >> 11) * 0x1p-53 < share;
}

}  // namespace nereid

#endif  // NEREID_OBSERVE_RECORD_RECORD_SAMPLE_H_
