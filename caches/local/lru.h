// SPDX-License-Identifier: Apache-2.0
// Lru: values by key, bounded in bytes: the least recently used entry makes room for a new one.
// Thread-safe.
#ifndef NEREID_CACHES_LOCAL_LRU_H_
#define NEREID_CACHES_LOCAL_LRU_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nereid_cache {

// The buffers of one entry, one after the other. Immutable once shared: a reader keeps the entry as
// long as it reads, even if the entry is no longer in the cache.
struct LruValue {
  std::unique_ptr<char[]> bytes;
  std::vector<size_t> sizes;  // of the buffers

  size_t total() const;
};

class Lru {
 public:
  // Approximate size of an entry apart from its value and key; it counts against the limit, too.
  static constexpr size_t kEntryOverhead = 192;
  enum class Inserted { kYes, kExists, kTooLarge };
  struct Counts {
    uint64_t limit = 0, bytes = 0, entries = 0;
    uint64_t lookups = 0, hits = 0, evictions = 0;
  };

  // `limit`: bytes of all entries together.
  explicit Lru(uint64_t limit) : limit_(limit) {}
  Lru(const Lru&) = delete;
  Lru& operator=(const Lru&) = delete;

  // The charge for an entry of `size` bytes.
  static uint64_t Weight(const std::string& key, size_t size) {
    return key.size() + size + kEntryOverhead;
  }

  // Returns null if the key is unknown. Makes the entry the most recently used one.
  std::shared_ptr<const LruValue> Find(const std::string& key);
  // Whether an entry of `size` bytes could be inserted now; changes nothing.
  Inserted CanInsert(const std::string& key, size_t size) const;
  // Makes the new entry the most recently used one, and evicts as many others as necessary. An
  // existing entry with the same key stays.
  Inserted Insert(const std::string& key, std::shared_ptr<const LruValue> value);

  Counts counts() const;

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const LruValue> value;
  };
  Inserted Check(const std::string& key, size_t size) const;  // with mu_ held

  const uint64_t limit_;
  mutable std::mutex mu_;
  // Everything below is guarded by mu_.
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key_;  // keys of entries_
  uint64_t bytes_ = 0;
  uint64_t lookups_ = 0, hits_ = 0, evictions_ = 0;
};

}  // namespace nereid_cache

#endif  // NEREID_CACHES_LOCAL_LRU_H_
