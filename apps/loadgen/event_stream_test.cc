// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/event_stream.h"

#include <gtest/gtest.h>

#include <string>

#include "apps/loadgen/transport.h"

namespace nereid::bench {
namespace {

constexpr char kTwoEvents[] =
    "C\r\ndata: {\"a\":1\r\n"
    "B;ext=1\r\n}\n\ndata: {}\r\n"
    "2\r\n\n\n\r\n"
    "0\r\nTrailer: x\r\n\r\n";

TEST(EventStreamTest, EventsAreCountedWhereverTheBytesAreCut) {
  const std::string whole = kTwoEvents;
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    EventStream stream;
    ASSERT_TRUE(stream.Take(whole.substr(0, cut)).ok()) << cut;
    EXPECT_EQ(stream.ended(), cut == whole.size()) << cut;
    ASSERT_TRUE(stream.Take(whole.substr(cut)).ok()) << cut;
    EXPECT_TRUE(stream.ended()) << cut;
    EXPECT_EQ(stream.events(), 2u) << cut;
    EXPECT_EQ(stream.error(), "") << cut;
  }
}

TEST(EventStreamTest, AnEventCountsWhenItsLineIsThere) {
  EventStream stream;
  ASSERT_TRUE(stream.Take("10\r\ndata: {\"a\":1}").ok());
  EXPECT_EQ(stream.events(), 0u);
  ASSERT_TRUE(stream.Take("\n").ok());
  EXPECT_EQ(stream.events(), 1u);
}

TEST(EventStreamTest, AnErrorIsKept) {
  EventStream stream;
  ASSERT_TRUE(stream.Take("20\r\ndata: {}\n\ndata: {\"error\":\"no\"}\n\n\r\n0\r\n\r\n").ok());
  EXPECT_EQ(stream.error(), "{\"error\":\"no\"}");
  EXPECT_TRUE(stream.ended());
  stream.Reset();
  EXPECT_FALSE(stream.ended());
  EXPECT_EQ(stream.error(), "");
  EXPECT_EQ(stream.events(), 0u);
  const std::string event = "data: {\"error\":\"" + std::string(600, 'x') + "\"}\n";
  ASSERT_TRUE(stream.Take("26B\r\n" + event.substr(0, 619)).ok());
  EXPECT_EQ(stream.error().size(), kMostErrorBytes);
}

TEST(EventStreamTest, WhatIsNoStreamOfChunks) {
  EXPECT_FALSE(EventStream().Take("data: {}\n").ok());
  EXPECT_FALSE(EventStream().Take("\r\n").ok());
  EXPECT_FALSE(EventStream().Take("1\r\nxx\r\n").ok());
  EXPECT_FALSE(EventStream().Take("0\r\n\r\nx").ok());
  EXPECT_FALSE(EventStream().Take("-1\r\n").ok());
  EXPECT_FALSE(EventStream().Take(std::string(5000, '1')).ok());
}

}  // namespace
}  // namespace nereid::bench
