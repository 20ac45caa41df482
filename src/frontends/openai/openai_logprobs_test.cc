// SPDX-License-Identifier: Apache-2.0
#include "frontends/openai/openai_logprobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

using testing::HasSubstr;

constexpr char kTokens[] = R"([{"5":{"logprob":-2.5,"rank":3,"decoded_token":"é"},)"
                           R"("7":{"logprob":-0.5,"rank":1,"decoded_token":"a"},)"
                           R"("8":{"logprob":-1.5,"rank":2,"decoded_token":"a"}},)"
                           R"({"9":{"logprob":-Infinity,"rank":9,"decoded_token":"\ufffd"}}])";

std::string Refusal(absl::string_view element) {
  return std::string(OpenAiLogprobs(OpenAiRoute::kChat, 2).Add(element).message());
}

TEST(OpenAiLogprobsTest, OfAChat) {
  OpenAiLogprobs logprobs(OpenAiRoute::kChat, 2);
  EXPECT_TRUE(logprobs.empty());
  EXPECT_EQ(logprobs.Take(), "null");
  ASSERT_TRUE(logprobs.Add(kTokens).ok());
  EXPECT_FALSE(logprobs.empty());
  EXPECT_GT(logprobs.EstimateSize(), 100u);
  EXPECT_EQ(logprobs.Take(),
            R"({"content":[{"token":"é","logprob":-2.5,"bytes":[195,169],"top_logprobs":[)"
            R"({"token":"a","logprob":-0.5,"bytes":[97]},{"token":"a","logprob":-1.5,)"
            R"("bytes":[97]}]},{"token":"�","logprob":-9999.0,"bytes":null,)"
            R"("top_logprobs":[{"token":"�","logprob":-9999.0,"bytes":null}]}],)"
            R"("refusal":null})");
  EXPECT_EQ(logprobs.Take(), "null");
}

TEST(OpenAiLogprobsTest, OfACompletion) {
  OpenAiLogprobs logprobs(OpenAiRoute::kCompletions, 2);
  ASSERT_TRUE(logprobs.Add(kTokens).ok());
  EXPECT_EQ(logprobs.Take(), R"({"tokens":["é","�"],"token_logprobs":[-2.5,-9999.0],)"
                             R"("top_logprobs":[{"a":-0.5,"é":-2.5},{"�":-9999.0}],)"
                             R"("text_offset":[0,1]})");
  // What follows has its place after them.
  ASSERT_TRUE(logprobs.Add(R"([{"1":{"logprob":-1,"decoded_token":"b"}}])").ok());
  EXPECT_THAT(logprobs.Take(), HasSubstr(R"("text_offset":[2]})"));
}

TEST(OpenAiLogprobsTest, OfACompletionWithoutOthers) {
  OpenAiLogprobs logprobs(OpenAiRoute::kCompletions, 0);
  ASSERT_TRUE(logprobs.Add(kTokens).ok());
  EXPECT_THAT(logprobs.Take(), HasSubstr(R"("top_logprobs":null,)"));
}

TEST(OpenAiLogprobsTest, WhatCannotBeRead) {
  EXPECT_THAT(Refusal("[{"), HasSubstr("failed to parse"));
  EXPECT_EQ(Refusal("{}"), "it should be a list of tokens");
  for (const char* token : {"null", "{}", "3"}) {
    EXPECT_EQ(Refusal(std::string("[") + token + "]"),
              "each token should be an object that begins with its own");
  }
  for (const char* member : {"1", R"({"logprob":-1})", R"({"logprob":"a","decoded_token":"b"})"}) {
    EXPECT_EQ(Refusal(std::string(R"([{"5":)") + member + "}]"),
              "each token should have a number 'logprob' and a text 'decoded_token'");
  }
}

}  // namespace
}  // namespace nereid
