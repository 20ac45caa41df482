// SPDX-License-Identifier: Apache-2.0
#include "base/inline_text.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

TEST(InlineText, GrowsAcrossItsOwnBytes) {
  InlineText<4> text;
  EXPECT_EQ(text.view(), "");
  text.Append("");
  text.Append("ab");
  text.Append("cd");
  EXPECT_EQ(text.view(), "abcd");
  EXPECT_EQ(text.size(), 4u);
  text.Append("e");
  EXPECT_EQ(text.view(), "abcde");
  text.Append("fgh");
  EXPECT_EQ(text.view(), "abcdefgh");
}

TEST(InlineText, FewBytesLieInTheObject) {
  const InlineText<4> text("abcd");
  const char* const begin = reinterpret_cast<const char*>(&text);
  EXPECT_GE(text.view().data(), begin);
  EXPECT_LT(text.view().data(), begin + sizeof(text));
}

TEST(InlineText, Memory) {
  InlineText<4> text;
  text.Reserve(4);
  EXPECT_EQ(text.memory(), 0u);
  text.Append("abc");
  text.Reserve(1000);
  EXPECT_GE(text.memory(), 1000u);
  const size_t reserved = text.memory();
  text.Append(std::string(997, 'x'));
  EXPECT_EQ(text.memory(), reserved);
  EXPECT_EQ(text.view(), "abc" + std::string(997, 'x'));
  text.Clear();
  EXPECT_EQ(text.memory(), reserved);
  text.Release();
  EXPECT_EQ(text.memory(), 0u);
  EXPECT_EQ(text.view(), "");
}

TEST(InlineText, Clear) {
  InlineText<4> text("abcdefgh");
  EXPECT_EQ(text.view(), "abcdefgh");
  text.Clear();
  EXPECT_EQ(text.view(), "");
  text.Append("x");
  EXPECT_EQ(text.view(), "x");
  text.Append(std::string(9, 'y'));
  EXPECT_EQ(text.view(), "xyyyyyyyyy");
}

}  // namespace
}  // namespace nereid
