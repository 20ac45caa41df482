// SPDX-License-Identifier: Apache-2.0
#include "config/nearest_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace nereid {
namespace {

const std::vector<std::string> kNames = {"input", "output", "max_batch_size", "TYPE_FP32"};

TEST(NearestNameTest, FindsWhatWasMeant) {
  EXPECT_EQ(NearestName("inputs", kNames), "input");
  EXPECT_EQ(NearestName("max_batchsize", kNames), "max_batch_size");
  EXPECT_EQ(NearestName("MAX_BATCH_SIZE", kNames), "max_batch_size");
  EXPECT_EQ(NearestName("TYPE_FP_32", kNames), "TYPE_FP32");
}

TEST(NearestNameTest, CompletesWhatWasCutShort) {
  EXPECT_EQ(NearestName("max_batch", kNames), "max_batch_size");
  EXPECT_EQ(NearestName("ma", kNames), "");
}

TEST(NearestNameTest, DoesNotGuessWildly) {
  EXPECT_EQ(NearestName("TYPE_FLOAT32", {"TYPE_UINT32"}), "");
  EXPECT_EQ(NearestName("dynamic_batching", kNames), "");
  EXPECT_EQ(NearestName("", kNames), "");
  EXPECT_EQ(NearestName("x", {}), "");
  EXPECT_EQ(NearestName(std::string(100'000, 'x'), kNames), "");
}

TEST(NearestNameTest, PrefersTheFirstOfEquallyNearOnes) {
  EXPECT_EQ(NearestName("step3", {"step1", "step2"}), "step1");
}

}  // namespace
}  // namespace nereid
