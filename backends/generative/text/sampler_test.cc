// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/text/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;
using ::testing::Pair;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Logits of tokens with these probabilities.
std::vector<float> LogitsOf(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double one : probabilities) logits.push_back(static_cast<float>(std::log(one)));
  return logits;
}

// How often each token is the first one chosen, in percent, for many seeds.
std::map<Token, int> Percent(const SamplingParameters& parameters,
                             const std::vector<double>& probabilities) {
  std::map<Token, int> counts;
  constexpr int kDraws = 20'000;
  for (int seed = 0; seed < kDraws; ++seed) {
    Sampler sampler(parameters, static_cast<uint64_t>(seed), {});
    ++counts[*sampler.Sample(LogitsOf(probabilities))];
  }
  for (auto& [token, count] : counts) count = (count * 100 + kDraws / 2) / kDraws;
  return counts;
}

std::vector<Token> Several(const SamplingParameters& parameters, const std::vector<float>& logits,
                           int count, const std::vector<Token>& prompt = {}) {
  Sampler sampler(parameters, 1, prompt);
  std::vector<Token> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(*sampler.Sample(logits));
  return tokens;
}

TEST(SamplerTest, TemperatureZeroTakesTheMostProbableAndTheFirstOfEquals) {
  EXPECT_THAT(Several({.temperature = 0}, {1, 3, 2, 3}, 3), ElementsAre(1, 1, 1));
}

TEST(SamplerTest, DrawsByProbability) {
  EXPECT_THAT(Percent({}, {0.2, 0.5, 0.3}), ElementsAre(Pair(0, 20), Pair(1, 50), Pair(2, 30)));
  // Squares: 4, 25, 9 of 38.
  EXPECT_THAT(Percent({.temperature = 0.5}, {0.2, 0.5, 0.3}),
              ElementsAre(Pair(0, testing::AllOf(testing::Ge(10), testing::Le(11))),
                          Pair(1, testing::AllOf(testing::Ge(65), testing::Le(67))),
                          Pair(2, testing::AllOf(testing::Ge(23), testing::Le(24)))));
}

TEST(SamplerTest, TopKTopPAndMinPLeaveOutWhatIsImprobable) {
  const std::vector<double> probabilities = {0.1, 0.4, 0.05, 0.3, 0.15};
  EXPECT_THAT(Percent({.top_k = 2}, probabilities), ElementsAre(Key(1), Key(3)));
  EXPECT_THAT(Percent({.top_k = 1}, probabilities), ElementsAre(Pair(1, 100)));
  EXPECT_THAT(Percent({.top_p = 0.69}, probabilities), ElementsAre(Key(1), Key(3)));
  EXPECT_THAT(Percent({.top_p = 0.71}, probabilities), ElementsAre(Key(1), Key(3), Key(4)));
  EXPECT_THAT(Percent({.top_p = 0}, probabilities), ElementsAre(Pair(1, 100)));
  EXPECT_THAT(Percent({.min_p = 0.3}, probabilities), ElementsAre(Key(1), Key(3), Key(4)));
  // What is left counts as everything: 0.3 of 0.7 is needed besides 0.4 of 0.7.
  EXPECT_THAT(Percent({.top_k = 2, .top_p = 0.5}, probabilities), ElementsAre(Pair(1, 100)));
}

TEST(SamplerTest, SeedsGiveTheSameTokensAgain) {
  const std::vector<float> logits(50, 0.0f);
  const auto drawn = [&logits](uint64_t seed) {
    Sampler sampler({}, seed, {});
    std::vector<Token> tokens;
    for (int i = 0; i < 5; ++i) tokens.push_back(*sampler.Sample(logits));
    return tokens;
  };
  EXPECT_EQ(drawn(7), drawn(7));
  EXPECT_NE(drawn(7), drawn(8));
}

TEST(SamplerTest, PenaltiesCountWhatWasGeneratedAndRepetitionThePromptToo) {
  const std::vector<float> logits = {1.0f, 1.3f, -0.5f};
  EXPECT_THAT(Several({.temperature = 0, .presence_penalty = 0.5}, logits, 3),
              ElementsAre(1, 0, 1));
  EXPECT_THAT(Several({.temperature = 0, .frequency_penalty = 0.2}, logits, 4),
              ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(Several({.temperature = 0, .repetition_penalty = 2}, logits, 2, {1}),
              ElementsAre(0, 1));
  // A negative logit becomes more negative.
  EXPECT_THAT(Several({.temperature = 0, .repetition_penalty = 2}, {-1.0f, -1.5f}, 1, {0}),
              ElementsAre(1));
  EXPECT_THAT(Several({.temperature = 0, .presence_penalty = 5}, logits, 1, {1}), ElementsAre(1));
}

TEST(SamplerTest, BiasForbidsAndForces) {
  EXPECT_THAT(
      Several({.temperature = 0, .logit_bias = {{1, -100}, {99, 5}, {-4, 5}}}, {1, 3, 2}, 1),
      ElementsAre(2));
  EXPECT_THAT(Several({.logit_bias = {{0, 100}}}, {1, 3, 2}, 2), ElementsAre(0, 0));
  Sampler sampler({.temperature = 0}, 1, {});
  EXPECT_EQ(sampler.Sample(std::vector<float>{1, 3, 2}, std::vector<Token>{1}), 2);
}

TEST(SamplerTest, WhatIsNoNumberIsNotChosen) {
  for (const double temperature : {0.0, 1.0}) {
    SCOPED_TRACE(temperature);
    const SamplingParameters parameters = {.temperature = temperature};
    EXPECT_THAT(Several(parameters, {kNaN, -2, -kInfinity}, 1), ElementsAre(1));
    EXPECT_THAT(Several(parameters, {kNaN, -2, kInfinity}, 1), ElementsAre(2));
    Sampler sampler(parameters, 1, {});
    EXPECT_EQ(sampler.Sample(std::vector<float>{kNaN, -kInfinity}), std::nullopt);
    EXPECT_EQ(sampler.Sample({}), std::nullopt);
  }
}

}  // namespace
}  // namespace nereid_backend
