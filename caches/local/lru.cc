// SPDX-License-Identifier: Apache-2.0
#include "caches/local/lru.h"

#include <numeric>
#include <utility>

namespace nereid_cache {

size_t LruValue::total() const { return std::accumulate(sizes.begin(), sizes.end(), size_t{0}); }

std::shared_ptr<const LruValue> Lru::Find(const std::string& key) {
  const std::lock_guard<std::mutex> lock(mu_);
  ++lookups_;
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  ++hits_;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->value;
}

Lru::Inserted Lru::Check(const std::string& key, size_t size) const {
  if (by_key_.count(key) > 0) return Inserted::kExists;
  return Weight(key, size) > limit_ ? Inserted::kTooLarge : Inserted::kYes;
}

Lru::Inserted Lru::CanInsert(const std::string& key, size_t size) const {
  const std::lock_guard<std::mutex> lock(mu_);
  return Check(key, size);
}

Lru::Inserted Lru::Insert(const std::string& key, std::shared_ptr<const LruValue> value) {
  const size_t size = value->total();
  std::list<Entry> evicted;  // freed after the mutex is
  {
    const std::lock_guard<std::mutex> lock(mu_);
    const Inserted possible = Check(key, size);
    if (possible != Inserted::kYes) return possible;
    while (bytes_ > limit_ - Weight(key, size)) {
      const auto last = std::prev(entries_.end());
      bytes_ -= Weight(last->key, last->value->total());
      by_key_.erase(last->key);
      evicted.splice(evicted.begin(), entries_, last);
      ++evictions_;
    }
    entries_.push_front({key, std::move(value)});
    by_key_.emplace(entries_.front().key, entries_.begin());
    bytes_ += Weight(key, size);
  }
  return Inserted::kYes;
}

Lru::Counts Lru::counts() const {
  const std::lock_guard<std::mutex> lock(mu_);
  return {limit_, bytes_, entries_.size(), lookups_, hits_, evictions_};
}

}  // namespace nereid_cache
