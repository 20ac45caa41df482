// SPDX-License-Identifier: Apache-2.0
#include "backends/python/suspects.h"

#include <algorithm>

namespace nereid_backend {

Suspects::Suspect* Suspects::Find(uint64_t fingerprint) {
  const auto found = std::find_if(suspects_.begin(), suspects_.end(),
                                  [&](const Suspect& s) { return s.fingerprint == fingerprint; });
  return found == suspects_.end() ? nullptr : &*found;
}

void Suspects::Expire(uint64_t now) {
  std::deque<Suspect> on_probation;
  while (!suspects_.empty()) {
    const Suspect& oldest = suspects_.front();
    if (now < oldest.since + (oldest.guilty ? kQuarantineNs : kMemoryNs)) break;
    if (oldest.guilty) on_probation.push_back({oldest.fingerprint, false, now});
    suspects_.pop_front();
  }
  suspects_.insert(suspects_.end(), on_probation.begin(), on_probation.end());
  any_.store(!suspects_.empty(), std::memory_order_relaxed);
}

Suspects::Verdict Suspects::Judge(uint64_t fingerprint) {
  const uint64_t now = now_();
  const std::lock_guard lock(mu_);
  Expire(now);
  const Suspect* const known = Find(fingerprint);
  if (known == nullptr) return Verdict::kUnknown;
  return known->guilty ? Verdict::kGuilty : Verdict::kSuspect;
}

// A request that was executed alone and is already a suspect is guilty.
bool Suspects::Accuse(const std::vector<uint64_t>& fingerprints) {
  const uint64_t now = now_();
  bool guilty = false;
  const std::lock_guard lock(mu_);
  Expire(now);
  for (const uint64_t fingerprint : fingerprints) {
    const bool known = Find(fingerprint) != nullptr;
    std::erase_if(suspects_, [&](const Suspect& s) { return s.fingerprint == fingerprint; });
    suspects_.push_back({fingerprint, known && fingerprints.size() == 1, now});
    guilty = guilty || suspects_.back().guilty;
  }
  while (suspects_.size() > kMost) suspects_.pop_front();
  any_.store(true, std::memory_order_relaxed);
  return guilty;
}

void Suspects::Acquit(uint64_t fingerprint) {
  const std::lock_guard lock(mu_);
  std::erase_if(suspects_, [&](const Suspect& s) { return s.fingerprint == fingerprint; });
  any_.store(!suspects_.empty(), std::memory_order_relaxed);
}

}  // namespace nereid_backend
