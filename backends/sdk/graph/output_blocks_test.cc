// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/graph/output_blocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

namespace nereid_backend {
namespace {

TEST(OutputBlocksTest, ABlockServesLaterRuns) {
  const auto blocks = OutputBlocks::Create();
  OutputBlock block = blocks->Take(1000);
  char* const first = block.get();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % OutputBlocks::kAlignment, 0u);
  std::memset(first, 1, 1000);
  EXPECT_NE(blocks->Take(1000).get(), first) << "it is in use";
  block.reset();
  EXPECT_EQ(blocks->kept(), 2u);
  EXPECT_EQ(blocks->Take(900).get(), first);
}

TEST(OutputBlocksTest, NeitherTooSmallNorMuchTooLarge) {
  const auto blocks = OutputBlocks::Create();
  blocks->Take(10'000).reset();
  const OutputBlock small = blocks->Take(1000);
  const OutputBlock large = blocks->Take(20'000);
  EXPECT_EQ(blocks->kept(), 1u);
  const OutputBlock fits = blocks->Take(6000);
  EXPECT_EQ(blocks->kept(), 0u);
}

TEST(OutputBlocksTest, APartKeepsItsBlock) {
  const auto blocks = OutputBlocks::Create();
  OutputBlock block = blocks->Take(100);
  const LentBytes part = LendPart(block, {block.get() + 10, 5});
  EXPECT_EQ(part.bytes.data(), block.get() + 10);
  EXPECT_EQ(part.bytes.size(), 5u);
  block.reset();
  EXPECT_EQ(blocks->kept(), 0u);
  part.release(part.userp);
  EXPECT_EQ(blocks->kept(), 1u);
}

TEST(OutputBlocksTest, NoMoreThanTheLimitAreInUse) {
  const auto blocks = OutputBlocks::Create();
  std::vector<OutputBlock> taken;
  for (size_t i = 0; i < OutputBlocks::kMostInUse; ++i) taken.push_back(blocks->Take(64));
  for (const OutputBlock& block : taken) EXPECT_NE(block, nullptr);
  EXPECT_EQ(blocks->Take(64), nullptr);
  taken.pop_back();
  EXPECT_NE(blocks->Take(64), nullptr);
  taken.clear();
  EXPECT_EQ(blocks->kept(), OutputBlocks::kMostKept);
}

TEST(OutputBlocksTest, ABlockOutlivesItsOwner) {
  auto blocks = OutputBlocks::Create();
  const OutputBlock block = blocks->Take(100);
  blocks.reset();
  std::memset(block.get(), 1, 100);
}

TEST(OutputBlocksTest, WithoutMemoryNothingIsInUse) {
  const auto blocks = OutputBlocks::Create();
  for (size_t i = 0; i < OutputBlocks::kMostInUse; ++i) {
    EXPECT_THROW(blocks->Take(SIZE_MAX), std::bad_alloc);
  }
  EXPECT_NE(blocks->Take(64), nullptr);
}

}  // namespace
}  // namespace nereid_backend
