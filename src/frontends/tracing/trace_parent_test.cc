// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/trace_parent.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

constexpr char kParent[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceParentTest, WellFormed) {
  const auto parent = ParseTraceParent(kParent, "a=1,b=2");
  ASSERT_TRUE(parent.has_value());
  EXPECT_TRUE(parent->sampled);
  EXPECT_EQ(parent->state, "a=1,b=2");
  EXPECT_EQ(FormatTraceParent(parent->trace_id, parent->span_id), kParent);
  const auto unsampled =
      ParseTraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", "");
  ASSERT_TRUE(unsampled.has_value());
  EXPECT_FALSE(unsampled->sampled);
  // A later version may append more.
  EXPECT_TRUE(ParseTraceParent("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", ""));
}

TEST(TraceParentTest, AnythingElseCountsAsMissing) {
  for (const char* bad : {
           "",
           "x",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
           "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
           "00-00000000000000000000000000000000-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
           "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.x",
           "zz-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
       }) {
    EXPECT_FALSE(ParseTraceParent(bad, "").has_value()) << bad;
  }
}

TEST(TraceParentTest, TooLongAStateIsLeftOut) {
  EXPECT_EQ(ParseTraceParent(kParent, std::string(512, 'x'))->state.size(), 512U);
  EXPECT_EQ(ParseTraceParent(kParent, std::string(513, 'x'))->state, "");
}

}  // namespace
}  // namespace nereid
