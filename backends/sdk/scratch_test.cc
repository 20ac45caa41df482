// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/scratch.h"

#include <gtest/gtest.h>

namespace nereid_backend {
namespace {

TEST(ScratchTest, IsAlignedAndLargeEnough) {
  Scratch scratch;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{4096}}) {
    char* buffer = scratch.Reserve(size);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % Scratch::kAlignment, 0u);
    EXPECT_GE(scratch.capacity(), size);
  }
}

TEST(ScratchTest, SmallerUseReusesTheBuffer) {
  Scratch scratch;
  const char* first = scratch.Reserve(1000);
  EXPECT_EQ(scratch.Reserve(600), first);
}

TEST(ScratchTest, GivesBackWhatAWholeWindowDidNotNeed) {
  Scratch scratch;
  scratch.Reserve(1 << 20);
  // The peak of the first window is still the large request.
  for (size_t i = 1; i < 2 * Scratch::kWindow; ++i) scratch.Reserve(100);
  EXPECT_LE(scratch.capacity(), 128u);
}

TEST(ScratchTest, KeepsWhatIsNeededNowAndThen) {
  Scratch scratch;
  for (size_t i = 0; i < 4 * Scratch::kWindow; ++i) {
    scratch.Reserve(i % (Scratch::kWindow / 2) == 0 ? 1 << 20 : 100);
  }
  EXPECT_GE(scratch.capacity(), size_t{1} << 20);
}

}  // namespace
}  // namespace nereid_backend
