// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/call_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kLeaf = R"({"type":null,"context":null,"children_spec":[]})";

std::string Node(const std::string& type, const std::string& context, const std::string& children) {
  return R"({"type":")" + type + R"(","context":")" + context + R"(","children_spec":[)" +
         children + "]}";
}
std::string Tuple(const std::string& children) { return Node("builtins.tuple", "null", children); }
std::string Tree(const std::string& node) { return "[1, " + node + "]"; }
std::string NoKeywords() { return Node("builtins.dict", "[]", ""); }

TEST(CallSpecTest, NestedArgumentsAreFlat) {
  const std::string leaf = kLeaf;
  const std::string dictionary =
      Node("builtins.dict", R"([\"keyA\", \"keyB\"])", leaf + "," + leaf);
  const std::string keywords = Node("builtins.dict", R"([\"kw\"])", leaf);
  const Result<Forward> forward =
      ReadCallSpec(Tree(Tuple(Tuple(leaf + "," + dictionary) + "," + keywords)), Tree(leaf));
  ASSERT_TRUE(forward.ok());
  ASSERT_EQ(forward->arguments.size(), 4u);
  EXPECT_THAT(forward->arguments[0].names, ElementsAre("ARGS[0]"));
  EXPECT_THAT(forward->arguments[2].names, ElementsAre("ARGS[1][keyB]"));
  EXPECT_THAT(forward->arguments[3].names, ElementsAre("KWARGS[kw]", "kw"));
  ASSERT_EQ(forward->returned.size(), 1u);
  EXPECT_THAT(forward->returned[0].names, ElementsAre("RESULT"));
}

TEST(CallSpecTest, DictionariesOfResultsKeepTheirOrder) {
  const std::string leaf = kLeaf;
  const std::string inner = Node("builtins.list", "null", leaf + "," + leaf);
  const std::string results =
      Node("collections.OrderedDict", R"([\"z\", \"a\"])", leaf + "," + inner);
  const Result<Forward> forward =
      ReadCallSpec(Tree(Tuple(Tuple(leaf) + "," + NoKeywords())), Tree(results));
  ASSERT_TRUE(forward.ok());
  ASSERT_EQ(forward->returned.size(), 3u);
  EXPECT_THAT(forward->returned[0].names, ElementsAre("RESULT[z]", "z"));
  EXPECT_THAT(forward->returned[2].names, ElementsAre("RESULT[a][1]"));
}

TEST(CallSpecTest, WhatItDoesNotKnow) {
  const std::string leaf = kLeaf;
  Result<Forward> forward = ReadCallSpec(
      Tree(Tuple(Tuple(Node("my.Class", "null", leaf)) + "," + NoKeywords())), Tree(leaf));
  ASSERT_FALSE(forward.ok());
  EXPECT_THAT(forward.error().message(),
              HasSubstr("ARGS[0] of its call specification is a my.Cla"));
  for (const char* text : {"", "[]", "[1]", "{}", "[1, {\"type\": null}]", "[2, 3]"}) {
    EXPECT_FALSE(ReadCallSpec(text, Tree(leaf)).ok()) << text;
  }
  std::string deep = leaf;
  for (int i = 0; i < 100; ++i) deep = Tuple(deep);
  EXPECT_FALSE(ReadCallSpec(Tree(Tuple(Tuple(deep) + "," + NoKeywords())), Tree(leaf)).ok());
}

}  // namespace
}  // namespace nereid_backend
