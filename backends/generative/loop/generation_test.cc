// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/loop/generation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string Refusal(std::string_view json) {
  Generation generation;
  const Error error = ReadSamplingParameters(json, &generation);
  return error.ok() ? "" : error.message();
}

std::string Refusal(const Generation& generation, const GenerationLimits& limits) {
  const Error error = CheckGeneration(generation, limits);
  return error.ok() ? "" : error.message();
}

TEST(GenerationTest, ReadsSamplingParameters) {
  Generation one;
  ASSERT_TRUE(ReadSamplingParameters(
                  R"({"temperature": 0.5, "top_k": 40, "top_p": 0.9, "min_p": 0.1, "seed": -3,
                      "repetition_penalty": 1.1, "presence_penalty": -0.5, "frequency_penalty": 2,
                      "max_tokens": 7, "min_tokens": 2, "ignore_eos": true,
                      "stop_token_ids": [3, 5], "logit_bias": {"12": -100}, "stop": ["é", "ab"],
                      "include_stop_str_in_output": true, "logprobs": 5, "n": 3,
                      "priority": 4})",
                  &one)
                  .ok());
  EXPECT_EQ(one.sampling.temperature, 0.5);
  EXPECT_EQ(one.sampling.top_k, 40);
  EXPECT_EQ(one.sampling.top_p, 0.9);
  EXPECT_EQ(one.sampling.min_p, 0.1);
  EXPECT_EQ(one.sampling.repetition_penalty, 1.1);
  EXPECT_EQ(one.sampling.presence_penalty, -0.5);
  EXPECT_EQ(one.sampling.frequency_penalty, 2);
  EXPECT_THAT(one.sampling.logit_bias, ElementsAre(Pair(12, -100)));
  EXPECT_EQ(one.seed, static_cast<uint64_t>(-3));
  EXPECT_EQ(one.max_tokens, 7);
  EXPECT_EQ(one.min_tokens, 2);
  EXPECT_TRUE(one.ignore_end);
  EXPECT_THAT(one.stop_tokens, ElementsAre(3, 5));
  EXPECT_THAT(one.stops, ElementsAre("é", "ab"));
  EXPECT_TRUE(one.include_stop);
  EXPECT_EQ(one.logprobs, 5);
  EXPECT_EQ(one.choices, 3);
  EXPECT_EQ(one.priority, 4);
}

TEST(GenerationTest, WhatIsNotGivenOrNullStaysAsItIs) {
  Generation one;
  ASSERT_TRUE(ReadSamplingParameters(R"({"top_k": -1, "seed": null})", &one).ok());
  EXPECT_EQ(one.sampling.top_k, 0);
  EXPECT_EQ(one.sampling.temperature, 1);
  EXPECT_EQ(one.seed, std::nullopt);
  EXPECT_FALSE(one.has_max_tokens);
  EXPECT_THAT(one.stops, ElementsAre());
  ASSERT_TRUE(ReadSamplingParameters(R"({"stop": "end"})", &one).ok());
  EXPECT_THAT(one.stops, ElementsAre("end"));
}

TEST(GenerationTest, WithoutMaxTokensTheDefaultHolds) {
  Generation one;
  one.prompt = {1, 2, 3};
  ChooseMaxTokens({.context = 8192, .memory = 100000}, &one);
  EXPECT_EQ(one.max_tokens, 512);
  ChooseMaxTokens({.context = 8192, .memory = 100000, .default_max_tokens = 20}, &one);
  EXPECT_EQ(one.max_tokens, 20);
  // If there is room for it.
  const GenerationLimits limits = {.vocabulary = 100, .context = 50, .memory = 40};
  ChooseMaxTokens(limits, &one);
  EXPECT_EQ(one.max_tokens, 37);
  ChooseMaxTokens({.memory = 60}, &one);
  EXPECT_EQ(one.max_tokens, 57);
  ChooseMaxTokens({.context = 3, .memory = 40}, &one);
  EXPECT_EQ(one.max_tokens, 1);
  EXPECT_THAT(Refusal(one, {.context = 3}),
              HasSubstr("than the 3 tokens of the network's context"));
  Generation other;
  other.prompt = {1};
  ASSERT_TRUE(ReadSamplingParameters(R"({"max_tokens": 5})", &other).ok());
  ChooseMaxTokens(limits, &other);
  EXPECT_EQ(other.max_tokens, 5);
}

TEST(GenerationTest, RefusesWhatItCannotDo) {
  EXPECT_THAT(Refusal("{"), HasSubstr("'sampling_parameters' is no JSON object"));
  EXPECT_THAT(Refusal("[1]"), HasSubstr("it is another JSON value"));
  EXPECT_THAT(Refusal(R"({"beam": 2})"), HasSubstr("'beam' is unknown: expected temperature"));
  EXPECT_EQ(Refusal(R"({"top_p": 1.5})"),
            "sampling parameter 'top_p' is 1.5: expected a number from 0 to 1");
  EXPECT_EQ(Refusal(R"({"temperature": NaN})"),
            "sampling parameter 'temperature' is NaN: expected a number from 0 to 100");
  EXPECT_EQ(Refusal(R"({"max_tokens": 0})"),
            "sampling parameter 'max_tokens' is 0: expected an integer from 1 to 1073741824");
  EXPECT_EQ(Refusal(R"({"max_tokens": "7"})"),
            "sampling parameter 'max_tokens' is \"7\": expected an integer from 1 to 1073741824");
  EXPECT_EQ(Refusal(R"({"logprobs": 21})"),
            "sampling parameter 'logprobs' is 21: expected an integer from 0 to 20");
  EXPECT_EQ(Refusal(R"({"ignore_eos": 1})"),
            "sampling parameter 'ignore_eos' is 1: expected true or false");
  EXPECT_EQ(Refusal(R"({"stop_token_ids": [1, "a"]})"),
            "sampling parameter 'stop_token_ids' is [1,\"a\"]: expected an array of tokens");
  EXPECT_THAT(Refusal(R"({"logit_bias": {"a": 1}})"), HasSubstr("an object of tokens and numbers"));
  for (const char* stop : {"7", R"("")", R"(["a", 1])", R"({"a": "b"})"}) {
    EXPECT_THAT(Refusal(StrCat(R"({"stop": )", stop, "}")),
                HasSubstr("expected a text of 1 to 256 bytes, or up to 16 of them"));
  }
  EXPECT_NE(Refusal(StrCat(R"({"stop": ")", std::string(257, 'a'), R"("})")), "");
}

TEST(GenerationTest, ChecksThePromptAgainstTheNetwork) {
  Generation one;
  EXPECT_EQ(Refusal(one, {}), "input 'input_ids' is empty: expected a token or more");
  one.from_text = true;
  EXPECT_EQ(Refusal(one, {}), "input 'text_input' is empty: expected a token or more");
  one.from_text = false;
  one.prompt = {1, 99, 5};
  one.max_tokens = 7;
  EXPECT_EQ(Refusal(one, {}), "");
  EXPECT_EQ(Refusal(one, {.vocabulary = 100, .context = 10}), "");
  EXPECT_EQ(Refusal(one, {.vocabulary = 99}),
            "input 'input_ids' has the token 99: expected tokens from 0 to 98");
  EXPECT_EQ(Refusal(one, {.context = 9}),
            "the prompt of 3 tokens and 7 new ones are more than the 9 tokens of the network's "
            "context");
  one.choices = 2;
  EXPECT_EQ(Refusal(one, {}), "");
  EXPECT_EQ(Refusal(one, {.one_choice = true}),
            "sampling parameter 'n' is 2, and the configuration has outputs for one text: expected "
            "1, or the dimensions [ -1 ] of all outputs");
  one.max_tokens = 0;
  EXPECT_EQ(Refusal(one, {}), "'max_tokens' is 0: expected 1 to 1073741824");
  one.max_tokens = 1;
  one.prompt = {-1};
  EXPECT_THAT(Refusal(one, {}), HasSubstr("has the token -1"));
}

}  // namespace
}  // namespace nereid_backend
