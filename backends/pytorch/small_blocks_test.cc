// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/small_blocks.h"

#include <c10/core/impl/alloc_cpu.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace nereid_backend {
namespace {

void* NewBlock(size_t size) { return c10::alloc_cpu(SmallBlocks::RoundUp(size)); }

void Keep(SmallBlocks* blocks, void* block, size_t size) {
  blocks->Keep(block, SmallBlocks::RoundUp(size));
}

TEST(SmallBlocksTest, SizesAreRoundedUpByAnEighthAtMost) {
  size_t before = 0;
  for (size_t size = 1; size <= SmallBlocks::kMostBlock; ++size) {
    const size_t rounded = SmallBlocks::RoundUp(size);
    ASSERT_GE(rounded, size);
    ASSERT_GE(rounded, before);
    ASSERT_LT(rounded, size + size / 8 + SmallBlocks::kUnit) << size;
    ASSERT_EQ(rounded % SmallBlocks::kUnit, 0u) << size;
    ASSERT_EQ(SmallBlocks::RoundUp(rounded), rounded) << size;
    before = rounded;
  }
  EXPECT_EQ(before, SmallBlocks::kMostBlock);
}

TEST(SmallBlocksTest, TheLastBlockOfASizeIsTheNext) {
  SmallBlocks blocks;
  EXPECT_EQ(blocks.Take(1000), nullptr);
  void* const first = NewBlock(1000);
  void* const second = NewBlock(1000);
  void* const other = NewBlock(2000);
  Keep(&blocks, first, 1000);
  Keep(&blocks, second, 1000);
  Keep(&blocks, other, 2000);
  EXPECT_EQ(blocks.kept_bytes(), 2 * SmallBlocks::RoundUp(1000) + SmallBlocks::RoundUp(2000));
  EXPECT_EQ(blocks.Take(1001), second) << "of the same rounded size";
  EXPECT_EQ(blocks.Take(1000), first);
  EXPECT_EQ(blocks.Take(1000), nullptr);
  EXPECT_EQ(blocks.Take(2000), other);
  EXPECT_EQ(blocks.kept_bytes(), 0u);
  for (void* block : {first, second, other}) c10::free_cpu(block);
}

TEST(SmallBlocksTest, TheSmallestAndTheLargestHaveAPlace) {
  for (const size_t size : {size_t{1}, SmallBlocks::kMostBlock}) {
    SmallBlocks blocks;
    void* const block = NewBlock(size);
    Keep(&blocks, block, size);
    EXPECT_EQ(blocks.Take(size), block);
    c10::free_cpu(block);
  }
}

TEST(SmallBlocksTest, BeyondTheLimitItBeginsAnew) {
  SmallBlocks blocks;
  constexpr size_t kSize = SmallBlocks::kMostBlock / 2;
  for (size_t kept = 0; kept < SmallBlocks::kMostKept; kept += kSize) {
    Keep(&blocks, NewBlock(kSize), kSize);
  }
  EXPECT_EQ(blocks.kept_bytes(), SmallBlocks::kMostKept);
  void* const last = NewBlock(64);
  Keep(&blocks, last, 64);
  EXPECT_EQ(blocks.kept_bytes(), 64u);
  EXPECT_EQ(blocks.Take(kSize), nullptr);
  EXPECT_EQ(blocks.Take(64), last);
  c10::free_cpu(last);
}

TEST(SmallBlocksTest, EachThreadHasItsOwn) {
  SmallBlocks* const mine = SmallBlocks::OfThisThread();
  EXPECT_EQ(SmallBlocks::OfThisThread(), mine);
  SmallBlocks* others = mine;
  std::thread([&] { others = SmallBlocks::OfThisThread(); }).join();
  EXPECT_NE(others, mine);
}

// A thread-local object that is destroyed after the blocks, because it was made before them.
struct AsksAtTheEnd {
  ~AsksAtTheEnd() {
    if (answer != nullptr) *answer = SmallBlocks::OfThisThread();
  }

  std::optional<SmallBlocks*>* answer = nullptr;
};

TEST(SmallBlocksTest, AThreadThatEndsHasNone) {
  std::optional<SmallBlocks*> at_the_end;
  std::thread([&] {
    thread_local AsksAtTheEnd asks;
    asks.answer = &at_the_end;
    ASSERT_NE(SmallBlocks::OfThisThread(), nullptr);
  }).join();
  ASSERT_TRUE(at_the_end.has_value());
  EXPECT_EQ(*at_the_end, nullptr);
}

}  // namespace
}  // namespace nereid_backend
