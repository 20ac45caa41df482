// SPDX-License-Identifier: Apache-2.0
#include "caches/local/lru.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

namespace nereid_cache {
namespace {

std::shared_ptr<const LruValue> Value(size_t size, char fill = 'x') {
  auto value = std::make_shared<LruValue>();
  value->bytes.reset(new char[size]);
  std::memset(value->bytes.get(), fill, size);
  value->sizes = {size / 2, size - size / 2};
  return value;
}

// Room for `entries` entries of one-letter keys and `size` bytes.
uint64_t Room(uint64_t entries, size_t size) { return entries * Lru::Weight("k", size); }

TEST(LruTest, TheLeastRecentlyUsedMakesPlace) {
  Lru lru(Room(3, 100));
  for (const char* key : {"a", "b", "c"}) {
    EXPECT_EQ(lru.Insert(key, Value(100)), Lru::Inserted::kYes);
  }
  EXPECT_NE(lru.Find("a"), nullptr);
  EXPECT_EQ(lru.Insert("a", Value(100)), Lru::Inserted::kExists);
  EXPECT_EQ(lru.CanInsert("d", 100), Lru::Inserted::kYes);
  EXPECT_EQ(lru.Insert("d", Value(100)), Lru::Inserted::kYes);
  EXPECT_EQ(lru.Find("b"), nullptr) << "not used for the longest time";
  EXPECT_NE(lru.Find("c"), nullptr);
  EXPECT_NE(lru.Find("a"), nullptr);
  EXPECT_NE(lru.Find("d"), nullptr);
  EXPECT_EQ(lru.Insert("e", Value(100)), Lru::Inserted::kYes);
  EXPECT_EQ(lru.Find("c"), nullptr) << "the order is that of the look-ups";
  const Lru::Counts counts = lru.counts();
  EXPECT_EQ(counts.entries, 3u);
  EXPECT_EQ(counts.evictions, 2u);
  EXPECT_EQ(counts.lookups, 6u);
  EXPECT_EQ(counts.hits, 4u);
}

TEST(LruTest, BytesAreBoundedAndALargeEntryEvictsSeveral) {
  const uint64_t limit = Room(4, 100);
  Lru lru(limit);
  for (const char* key : {"a", "b", "c", "d"}) lru.Insert(key, Value(100));
  EXPECT_EQ(lru.counts().bytes, limit);
  EXPECT_EQ(lru.Insert("e", Value(150)), Lru::Inserted::kYes);
  EXPECT_EQ(lru.counts().entries, 3u);
  EXPECT_LE(lru.counts().bytes, limit);
  EXPECT_EQ(lru.Find("a"), nullptr);
  EXPECT_EQ(lru.Find("b"), nullptr);
  // An entry that fills the cache alone, and one that is too large for it.
  const size_t all = limit - 1 - Lru::kEntryOverhead;
  EXPECT_EQ(lru.Insert("f", Value(all)), Lru::Inserted::kYes);
  EXPECT_EQ(lru.counts().entries, 1u);
  EXPECT_EQ(lru.counts().bytes, limit);
  EXPECT_EQ(lru.CanInsert("g", all + 1), Lru::Inserted::kTooLarge);
  EXPECT_EQ(lru.Insert("g", Value(all + 1)), Lru::Inserted::kTooLarge);
  EXPECT_NE(lru.Find("f"), nullptr) << "what does not fit evicts nothing";
}

TEST(LruTest, WhoReadsAValueKeepsIt) {
  Lru lru(Room(1, 100));
  lru.Insert("a", Value(100, 'a'));
  const std::shared_ptr<const LruValue> value = lru.Find("a");
  lru.Insert("b", Value(100, 'b'));
  EXPECT_EQ(lru.Find("a"), nullptr);
  EXPECT_EQ(value->bytes[99], 'a');
  EXPECT_EQ(value->total(), 100u);
}

TEST(LruTest, Storm) {
  const uint64_t limit = Room(16, 64);
  Lru lru(limit);
  std::atomic<uint64_t> hits{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 20'000; ++i) {
        const char fill = static_cast<char>('A' + random() % 48);
        const std::string key(1, fill);
        if (const auto found = lru.Find(key)) {
          ++hits;
          EXPECT_EQ(found->bytes[found->total() - 1], fill);
        } else {
          lru.Insert(key, Value(1 + random() % 128, fill));
        }
        if (i % 64 == 0) {
          EXPECT_LE(lru.counts().bytes, limit);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Lru::Counts counts = lru.counts();
  EXPECT_EQ(counts.lookups, 80'000u);
  EXPECT_EQ(counts.hits, hits.load());
  EXPECT_GT(counts.hits, 0u);
  EXPECT_GT(counts.evictions, 0u);
}

}  // namespace
}  // namespace nereid_cache
