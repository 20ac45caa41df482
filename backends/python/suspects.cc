#include "backends/python/suspects.h"

#include <algorithm>

namespace nereid_backend {

Suspects::Verdict Suspects::Judge(uint64_t fingerprint) const {
  const std::lock_guard lock(mu_);
  for (const Suspect& suspect : suspects_) {
    if (suspect.fingerprint == fingerprint) {
      return suspect.guilty ? Verdict::kGuilty : Verdict::kSuspect;
    }
  }
  return Verdict::kUnknown;
}

// A request that was executed alone and is already a suspect is guilty.
void Suspects::Accuse(const std::vector<uint64_t>& fingerprints) {
  const std::lock_guard lock(mu_);
  for (const uint64_t fingerprint : fingerprints) {
    const auto known = std::find_if(suspects_.begin(), suspects_.end(),
                                    [&](const Suspect& s) { return s.fingerprint == fingerprint; });
    if (known == suspects_.end()) {
      suspects_.push_back({fingerprint, false});
    } else if (fingerprints.size() == 1) {
      known->guilty = true;
    }
  }
  while (suspects_.size() > kMost) suspects_.pop_front();
  any_.store(true, std::memory_order_relaxed);
}

void Suspects::Acquit(uint64_t fingerprint) {
  const std::lock_guard lock(mu_);
  suspects_.erase(std::remove_if(suspects_.begin(), suspects_.end(),
                                 [&](const Suspect& s) { return s.fingerprint == fingerprint; }),
                  suspects_.end());
  any_.store(!suspects_.empty(), std::memory_order_relaxed);
}

}  // namespace nereid_backend
