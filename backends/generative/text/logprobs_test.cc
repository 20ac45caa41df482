// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/text/logprobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;

constexpr float kUnbounded = std::numeric_limits<float>::infinity();

std::vector<Token> TokensOf(const std::vector<TokenLogprob>& logprobs) {
  std::vector<Token> tokens;
  for (const TokenLogprob& one : logprobs) tokens.push_back(one.token);
  return tokens;
}

std::vector<int64_t> RanksOf(const std::vector<TokenLogprob>& logprobs) {
  std::vector<int64_t> ranks;
  for (const TokenLogprob& one : logprobs) ranks.push_back(one.rank);
  return ranks;
}

// The probabilities of the tokens are 1/8, 1/2, 1/8 and 1/4.
const std::vector<float> kLogits = {5, 5 + std::log(4.0F), 5, 5 + std::log(2.0F)};

TEST(LogprobsTest, TheChosenTokenAlone) {
  const auto logprobs = LogprobsOf(kLogits, 2, 0);
  ASSERT_EQ(logprobs.size(), 1u);
  EXPECT_EQ(logprobs[0].token, 2);
  EXPECT_EQ(logprobs[0].rank, 4) << "of equal ones the lower token comes first";
  EXPECT_NEAR(logprobs[0].logprob, std::log(0.125), 1e-6);
}

TEST(LogprobsTest, TheChosenTokenComesFirstAndOnce) {
  const auto other = LogprobsOf(kLogits, 2, 2);
  EXPECT_THAT(TokensOf(other), ElementsAre(2, 1, 3));
  EXPECT_THAT(RanksOf(other), ElementsAre(4, 1, 2));
  EXPECT_NEAR(other[1].logprob, std::log(0.5), 1e-6);
  const auto among = LogprobsOf(kLogits, 3, 3);
  EXPECT_THAT(TokensOf(among), ElementsAre(3, 1, 0));
  EXPECT_THAT(RanksOf(among), ElementsAre(2, 1, 3));
  EXPECT_EQ(LogprobsOf(kLogits, 0, 20).size(), 4u);
}

TEST(LogprobsTest, WhatIsImpossibleHasTheLeast) {
  const std::vector<float> logits = {NAN, 1, -kUnbounded, -20000};
  const auto logprobs = LogprobsOf(logits, 0, 4);
  EXPECT_THAT(TokensOf(logprobs), ElementsAre(0, 1, 3, 2));
  EXPECT_EQ(logprobs[0].logprob, kLeastLogprob);
  EXPECT_EQ(logprobs[1].logprob, 0);
  EXPECT_EQ(logprobs[2].logprob, kLeastLogprob);
  EXPECT_EQ(logprobs[3].logprob, kLeastLogprob);
  const std::vector<float> certain = {0, kUnbounded};
  EXPECT_EQ(LogprobsOf(certain, 1, 0)[0].logprob, kLeastLogprob);
}

// A token is a byte; a text begins without the space that its first token has.
std::string Decode(std::span<const Token> tokens) {
  std::string text;
  for (const Token token : tokens) text += static_cast<char>(token);
  if (text.starts_with(' ')) text.erase(0, 1);
  return text;
}

TEST(LogprobsTest, JsonHasTheTextsThatTokensHaveThere) {
  const std::vector<TokenLogprob> logprobs = {{'b', -0.5, 2}, {' ', -0.25, 1}};
  EXPECT_EQ(LogprobsJson(logprobs, nullptr, {}),
            R"({"98":{"logprob":-0.5,"rank":2},"32":{"logprob":-0.25,"rank":1}})");
  const std::vector<Token> before = {'a'};
  EXPECT_EQ(LogprobsJson(logprobs, &Decode, before),
            R"({"98":{"logprob":-0.5,"rank":2,"decoded_token":"b"},)"
            R"("32":{"logprob":-0.25,"rank":1,"decoded_token":" "}})");
}

TEST(LogprobsTest, ATokenWithinACharacterHasTheReplacement) {
  const std::vector<TokenLogprob> logprobs = {{0xA9, -1, 1}};
  EXPECT_EQ(LogprobsJson(logprobs, &Decode, {}),
            "{\"169\":{\"logprob\":-1.0,\"rank\":1,\"decoded_token\":\"\xEF\xBF\xBD\"}}");
}

}  // namespace
}  // namespace nereid_backend
