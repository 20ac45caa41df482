// SPDX-License-Identifier: Apache-2.0
#include "bench/limits/echo_options.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <vector>

namespace nereid::bench {
namespace {

std::optional<EchoOptions> Parse(std::initializer_list<const char*> words, bool raw) {
  std::vector<const char*> argv = {"echo"};
  argv.insert(argv.end(), words);
  return EchoOptions::Parse(static_cast<int>(argv.size()), argv.data(), raw);
}

TEST(EchoOptionsTest, HeadAndTail) {
  for (const bool raw : {false, true}) {
    const auto options = Parse({"--port=8001", "--head=/dev/null", "--tail-bytes=64"}, raw);
    ASSERT_TRUE(options.has_value());
    EXPECT_EQ(options->port, 8001);
    EXPECT_EQ(options->head, "");
    EXPECT_EQ(options->tail_bytes, 64u);
    EXPECT_EQ(options->responses, 1u);
  }
}

TEST(EchoOptionsTest, WholeMessagesOnlyWhereTheyAreAllowed) {
  const auto options = Parse({"--port=1"}, true);
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->tail_bytes, EchoOptions::kWholeMessage);
  EXPECT_FALSE(Parse({"--port=1"}, false));
  EXPECT_FALSE(Parse({"--port=1", "--tail-bytes=4"}, false));
  EXPECT_FALSE(Parse({"--port=1", "--head=/dev/null"}, false));
}

TEST(EchoOptionsTest, ResponsesDivideTheTail) {
  const auto options = Parse({"--port=1", "--tail-bytes=12", "--responses=3"}, true);
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->responses, 3u);
  EXPECT_FALSE(Parse({"--port=1", "--tail-bytes=12", "--responses=5"}, true));
  EXPECT_FALSE(Parse({"--port=1", "--tail-bytes=12", "--responses=0"}, true));
  EXPECT_FALSE(Parse({"--port=1", "--responses=2"}, true));
  EXPECT_FALSE(Parse({"--port=1", "--head=/dev/null", "--tail-bytes=12", "--responses=3"}, false));
}

TEST(EchoOptionsTest, WrongWords) {
  EXPECT_FALSE(Parse({}, true));
  EXPECT_FALSE(Parse({"--port=x"}, true));
  EXPECT_FALSE(Parse({"--port=1", "--tail-bytes=-1"}, true));
  EXPECT_FALSE(Parse({"--port=1", "--head=/no/such/file"}, true));
  EXPECT_FALSE(Parse({"--port=1", "--other"}, true));
}

}  // namespace
}  // namespace nereid::bench
