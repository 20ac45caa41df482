// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/block_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace nereid_backend {
namespace {

class BlockCacheTest : public ::testing::Test {
 protected:
  void SetUp() override { cache_.Clear(); }
  void TearDown() override { cache_.Clear(); }

  BlockCache& cache_ = BlockCache::Instance();
};

TEST_F(BlockCacheTest, ALargeBlockServesTheNextRun) {
  const void* first = nullptr;
  {
    const c10::DataPtr block = cache_.allocate(5'000'000);
    first = block.get();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
    std::memset(block.get(), 1, 5'000'000);
  }
  EXPECT_GE(cache_.kept_bytes(), 5'000'000u);
  const c10::DataPtr again = cache_.allocate(5'000'000 - 100);
  EXPECT_EQ(again.get(), first);
  EXPECT_EQ(cache_.kept_bytes(), 0u);
}

TEST_F(BlockCacheTest, ASmallBlockServesItsThread) {
  const void* const first = cache_.allocate(1000).get();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  const c10::DataPtr again = cache_.allocate(970);
  EXPECT_EQ(again.get(), first);
  const void* others = first;
  std::thread([&] { others = cache_.allocate(1000).get(); }).join();
  EXPECT_NE(others, first);
  EXPECT_EQ(cache_.kept_bytes(), 0u) << "they are not for all threads";
}

TEST_F(BlockCacheTest, AnotherThreadMayFreeABlock) {
  c10::DataPtr block = cache_.allocate(1000);
  const void* const start = block.get();
  const void* again = nullptr;
  std::thread([&] {
    block.clear();
    again = cache_.allocate(1000).get();
  }).join();
  EXPECT_EQ(again, start);
}

TEST_F(BlockCacheTest, AnEmptyBlockNeedsNoMemory) {
  const c10::DataPtr block = cache_.allocate(0);
  EXPECT_EQ(block.get(), nullptr);
}

TEST_F(BlockCacheTest, ThereIsAnEndToIt) {
  {
    std::vector<c10::DataPtr> blocks;
    for (int i = 0; i < 40; ++i) blocks.push_back(cache_.allocate(size_t{10} << 20));
  }
  EXPECT_LE(cache_.kept_bytes(), BlockCache::kMostKept);
  EXPECT_GT(cache_.kept_bytes(), BlockCache::kMostKept / 2);
  // One block that is larger than the limit on all kept blocks.
  { const c10::DataPtr huge = cache_.allocate(BlockCache::kMostKept + 1); }
  EXPECT_LE(cache_.kept_bytes(), BlockCache::kMostKept);
  EXPECT_ANY_THROW(cache_.allocate(SIZE_MAX - 10));
}

}  // namespace
}  // namespace nereid_backend
