// SPDX-License-Identifier: Apache-2.0
// The memory of parsed trees: asked for before it is taken, held as long as the tree lives, and
// an error where there is none.
#include "frontends/codec/json_parse.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace nereid {
namespace {

constexpr int kDepth = 100;
#ifdef NEREID_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// `count` times `piece`, with commas, in brackets.
std::string List(absl::string_view piece, size_t count, absl::string_view brackets = "[]") {
  std::string text(brackets.substr(0, 1));
  for (size_t i = 0; i < count; ++i) absl::StrAppend(&text, i > 0 ? "," : "", piece);
  return text + std::string(brackets.substr(1));
}

TEST(JsonParseTest, ATreeIsPaidForWhileItLives) {
  Budget budget("bytes in flight", 100 << 20, "--max-bytes");
  {
    JsonTree tree;
    ASSERT_TRUE(ParseJson(List("0", 1'000'000), kDepth, ParseBudget(&budget, nullptr), &tree).ok());
    EXPECT_GE(budget.used(), 40'000'000u);
    EXPECT_EQ(tree.Size(), 1'000'000u);
    ASSERT_TRUE(ParseJson("[]", kDepth, ParseBudget(&budget, nullptr), &tree).ok());
    EXPECT_EQ(budget.used(), 0u) << "the larger tree is gone";
    ASSERT_TRUE(ParseJson(List("0", 100'000), kDepth, ParseBudget(&budget, nullptr), &tree).ok());
    EXPECT_GT(budget.used(), 0u);
  }
  EXPECT_EQ(budget.used(), 0u);
}

TEST(JsonParseTest, WhatTheBudgetRefusesIsNotParsed) {
  Budget budget("bytes in flight", 10 << 20, "--max-bytes");
  JsonTree tree;
  const absl::Status refused =
      ParseJson(List("0", 1'000'000), kDepth, ParseBudget(&budget, nullptr), &tree);
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(refused.message().find("--max-bytes"), std::string::npos);
  EXPECT_TRUE(tree.IsNull());
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_TRUE(ParseJson("[1]", kDepth, ParseBudget(&budget, nullptr), &tree).ok());
}

TEST(JsonParseTest, ATextThatIsTooLongForItsPlace) {
  JsonTree tree;
  EXPECT_EQ(
      ParseJson("[1,2,3]", kDepth, ParseBudget::UpTo(6), &tree),
      absl::InvalidArgumentError("a JSON text of 7 bytes is too long: at most 6 bytes are read"));
  EXPECT_TRUE(ParseJson("[1,2]", kDepth, ParseBudget::UpTo(6), &tree).ok());
}

// What a tree takes, asked from the allocator, is no more than what was charged for it.
TEST(JsonParseTest, NoTreeTakesMoreThanItIsChargedFor) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's allocator does not tell";
  const std::string long_string = absl::StrCat("\"", std::string(3'000'000, 's'), "\"");
  const std::vector<std::string> texts = {List("0", 500'000),
                                          List("[]", 500'000),
                                          List("[0]", 300'000),
                                          List("\"\"", 500'000),
                                          List("\"\":0", 300'000, "{}"),
                                          List("\"abc\":{}", 200'000, "{}"),
                                          List("{\"\":[]}", 100'000),
                                          List("\"0123456789abcdef\"", 100'000),
                                          List(long_string, 1)};
  for (const std::string& text : texts) {
    Budget budget("bytes", 0);
    const struct mallinfo2 before = mallinfo2();
    JsonTree tree;
    ASSERT_TRUE(ParseJson(text, kDepth, ParseBudget(&budget, nullptr), &tree).ok());
    const struct mallinfo2 after = mallinfo2();
    const size_t taken = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
    EXPECT_GT(taken, 0u);
    EXPECT_LE(taken, budget.used()) << text.substr(0, 20);
  }
}

TEST(JsonParseTest, WantOfMemoryIsAnError) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs the address space";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto parse_without_memory = [] {
    const std::string text = List("0", 10'000'000);
    // Enough for the program and the text, but not for the tree of 160 MB.
    const rlimit little{300 << 20, 300 << 20};
    if (setrlimit(RLIMIT_AS, &little) != 0) std::exit(2);
    JsonTree tree;
    const absl::Status parsed = ParseJson(text, kDepth, ParseBudget(nullptr, nullptr), &tree);
    std::exit(parsed.code() == absl::StatusCode::kUnavailable ? 0 : 1);
  };
  EXPECT_EXIT(parse_without_memory(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace nereid
