// SPDX-License-Identifier: Apache-2.0
// How much of a limited resource one client may take, so that the biggest holder is refused first
// and a newcomer with a small request still finds room. A pure function.
#ifndef NEREID_BASE_FAIR_SHARE_H_
#define NEREID_BASE_FAIR_SHARE_H_

#include <cstdint>

namespace nereid {

// What the amount is taken for. This decides how much of the limit is reserved for small holders.
enum class ShareUse {
  kAdmission,  // something new: a quarter is reserved
  kAnswer,     // the completion of admitted work: an eighth, so new work cannot make it fail
};

inline uint64_t KeptBack(uint64_t limit, ShareUse use) {
  return use == ShareUse::kAdmission ? limit / 4 : limit / 8;
}

// Whether a client that already holds `held` may take `amount` more while `used` of `limit` (not 0)
// is in use. Any client may take from the unreserved part. The reserved part is open only to
// clients that would then hold at most half of what was free, rounded up.
inline bool MayTake(uint64_t limit, ShareUse use, uint64_t used, uint64_t amount, uint64_t held) {
  if (amount > limit || used > limit - amount) return false;
  const uint64_t free = limit - used;
  if (free - amount >= KeptBack(limit, use)) return true;
  const uint64_t half = free / 2 + free % 2;
  return held <= half && amount <= half - held;
}

}  // namespace nereid

#endif  // NEREID_BASE_FAIR_SHARE_H_
