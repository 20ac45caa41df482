// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/scheduler/block_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Token> Tokens(std::initializer_list<Token> tokens) { return tokens; }

TEST(BlockPoolTest, GivesEveryBlockOnce) {
  BlockPool pool(3, 2, true);
  EXPECT_EQ(pool.Take(), 0);
  EXPECT_EQ(pool.Take(), 1);
  EXPECT_EQ(pool.Take(), 2);
  EXPECT_EQ(pool.Take(), std::nullopt);
  pool.Release(std::vector<int32_t>{1});
  EXPECT_EQ(pool.available(), 1u);
  EXPECT_EQ(pool.Take(), 1);
}

TEST(BlockPoolTest, FindsWhatFullBlocksHold) {
  BlockPool pool(4, 2, true);
  const int32_t first = *pool.Take();
  const int32_t second = *pool.Take();
  EXPECT_EQ(pool.Keep(first, BlockPool::kNone, Tokens({1, 2})), first);
  EXPECT_EQ(pool.Keep(second, first, Tokens({3, 4})), second);
  EXPECT_THAT(pool.Find(Tokens({1, 2, 3, 4, 5})), ElementsAre(first, second));
  EXPECT_THAT(pool.Find(Tokens({1, 2, 3})), ElementsAre(first));
  EXPECT_THAT(pool.Find(Tokens({1, 2, 4, 4})), ElementsAre(first));
  EXPECT_THAT(pool.Find(Tokens({3, 4})), IsEmpty()) << "the same tokens elsewhere";
  EXPECT_THAT(pool.Find(Tokens({1})), IsEmpty());
}

TEST(BlockPoolTest, BlocksStayWhileSomebodyUsesThem) {
  BlockPool pool(1, 1, true);
  const std::vector<int32_t> block = {*pool.Take()};
  pool.Keep(block[0], BlockPool::kNone, Tokens({7}));
  EXPECT_THAT(pool.Find(Tokens({7})), ElementsAre(block[0]));
  pool.Release(block);
  EXPECT_EQ(pool.available(), 0u);
  pool.Release(block);
  EXPECT_EQ(pool.available(), 1u);
  EXPECT_EQ(pool.cached(), 1u);
}

TEST(BlockPoolTest, OneOfTwoEqualBlocksGoesBack) {
  BlockPool pool(4, 1, true);
  const int32_t mine = *pool.Take();
  const int32_t theirs = *pool.Take();
  EXPECT_EQ(pool.Keep(mine, BlockPool::kNone, Tokens({7})), mine);
  EXPECT_EQ(pool.Keep(theirs, BlockPool::kNone, Tokens({7})), mine);
  EXPECT_EQ(pool.available(), 3u);
  pool.Release(std::vector<int32_t>{mine});
  EXPECT_EQ(pool.cached(), 0u) << "one of two users is left";
}

TEST(BlockPoolTest, WhatWasUnusedForLongestGoesFirstAndChildrenBeforeParents) {
  BlockPool pool(4, 1, true);
  const std::vector<int32_t> old = {*pool.Take(), *pool.Take()};
  pool.Keep(old[0], BlockPool::kNone, Tokens({1}));
  pool.Keep(old[1], old[0], Tokens({2}));
  const std::vector<int32_t> young = {*pool.Take(), *pool.Take()};
  pool.Keep(young[0], BlockPool::kNone, Tokens({3}));
  pool.Keep(young[1], young[0], Tokens({4}));
  pool.Release(old);
  pool.Release(young);
  pool.Release(pool.Find(Tokens({1})));  // now the parent is the youngest of all

  EXPECT_EQ(pool.Take(), old[1]);
  EXPECT_EQ(pool.Take(), young[1]);
  EXPECT_EQ(pool.Take(), young[0]);
  EXPECT_THAT(pool.Find(Tokens({3})), IsEmpty());
  EXPECT_THAT(pool.Find(Tokens({1, 2})), ElementsAre(old[0]));
}

TEST(BlockPoolTest, FindsNothingIfItShallNot) {
  BlockPool pool(2, 1, false);
  const std::vector<int32_t> block = {*pool.Take()};
  EXPECT_EQ(pool.Keep(block[0], BlockPool::kNone, Tokens({7})), block[0]);
  EXPECT_THAT(pool.Find(Tokens({7})), IsEmpty());
  pool.Release(block);
  EXPECT_EQ(pool.cached(), 0u);
  EXPECT_EQ(pool.available(), 2u);
}

}  // namespace
}  // namespace nereid_backend
