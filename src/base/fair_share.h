// How much of something limited one client may take, so that the biggest holder is refused first
// and a newcomer with a small wish finds room. A pure function.
#ifndef NEREID_BASE_FAIR_SHARE_H_
#define NEREID_BASE_FAIR_SHARE_H_

#include <cstdint>

namespace nereid {

// What the taken amount is for: it says how much of the limit is kept back for small holders.
enum class ShareUse {
  kAdmission,  // something new: a quarter is kept back
  kAnswer,     // the end of what was let in: an eighth, so that it does not fail for what comes new
};

inline uint64_t KeptBack(uint64_t limit, ShareUse use) {
  return use == ShareUse::kAdmission ? limit / 4 : limit / 8;
}

// Whether `amount` more may be taken when `used` of `limit` (not 0) is in use, by a client that
// holds `held` already. Everybody may take up to what is kept back; of that only those may take who
// then hold at most half of what was free, rounded up.
inline bool MayTake(uint64_t limit, ShareUse use, uint64_t used, uint64_t amount, uint64_t held) {
  if (amount > limit || used > limit - amount) return false;
  const uint64_t free = limit - used;
  if (free - amount >= KeptBack(limit, use)) return true;
  const uint64_t half = free / 2 + free % 2;
  return held <= half && amount <= half - held;
}

}  // namespace nereid

#endif  // NEREID_BASE_FAIR_SHARE_H_
