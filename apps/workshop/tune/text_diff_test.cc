// SPDX-License-Identifier: Apache-2.0
#include "tune/text_diff.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

TEST(TextDiff, ShowsWhatChangesAndItsSurroundings) {
  EXPECT_EQ(TextDiff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nX\nY\nf\n"),
            "...\n b\n c\n d\n-e\n+X\n+Y\n f\n");
  EXPECT_EQ(TextDiff("", "a\n"), "+a\n");
  EXPECT_EQ(TextDiff("a\n", "a\n"), "");
  EXPECT_EQ(TextDiff("a\nb\nc\nd\ne\n", "b\nc\nd\ne\n"), "-a\n b\n c\n d\n...\n");
}

}  // namespace
}  // namespace nereid
