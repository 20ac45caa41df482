// SPDX-License-Identifier: Apache-2.0
// In virtual time, with a network whose next token is a hash of all tokens before, which it finds
// in the blocks: a wrong block gives other tokens.
#include "backends/generative/scheduler/token_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace nereid_backend {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Admission = TokenScheduler::Admission;

constexpr TokenTime kStart;

uint64_t HashAfter(uint64_t before, Token token) {
  return (before ^ static_cast<uint64_t>(token)) * 0x9e3779b97f4a7c15u + (before >> 29);
}
Token TokenOfHash(uint64_t hash) { return static_cast<Token>(hash >> 54); }

// The token that follows.
Token NextOf(std::span<const Token> tokens) {
  uint64_t hash = 1;
  for (const Token token : tokens) hash = HashAfter(hash, token);
  return TokenOfHash(hash);
}

class HashNetwork {
 public:
  explicit HashNetwork(const TokenScheduler::Limits& limits)
      : block_size_(static_cast<size_t>(limits.block_size)),
        memory_(static_cast<size_t>(limits.blocks) * block_size_) {}

  // The token after the part's last one.
  Token Compute(const StepPart& part) {
    size_t at = static_cast<size_t>(part.past);
    EXPECT_EQ(part.blocks.size(), (at + part.tokens.size() + block_size_ - 1) / block_size_);
    uint64_t hash = at == 0 ? 1 : Place(part, at - 1);
    for (const Token token : part.tokens) Place(part, at++) = hash = HashAfter(hash, token);
    return TokenOfHash(hash);
  }

 private:
  uint64_t& Place(const StepPart& part, size_t position) {
    const auto block = static_cast<size_t>(part.blocks[position / block_size_]);
    return memory_[block * block_size_ + position % block_size_];
  }

  const size_t block_size_;
  std::vector<uint64_t> memory_;
};

// A scheduler, its network, and the time.
class Engine {
 public:
  explicit Engine(const TokenScheduler::Limits& limits)
      : limits_(limits), scheduler(limits), network_(limits) {}

  Admission Add(uint64_t id, std::vector<Token> prompt, int64_t new_tokens, int64_t priority = 0,
                std::string tenant = "", TokenTime deadline = TokenTime::max()) {
    const size_t length = prompt.size();
    const Admission admission = scheduler.Add({.id = id,
                                               .prompt = std::move(prompt),
                                               .max_new_tokens = new_tokens,
                                               .priority = priority,
                                               .tenant = std::move(tenant),
                                               .deadline = deadline});
    if (admission == Admission::kTaken) ends_[id] = length + static_cast<size_t>(new_tokens);
    return admission;
  }

  // The ids of the sequences in the step.
  std::vector<uint64_t> RunStep() {
    const Step step = scheduler.Plan(now);
    for (const uint64_t id : step.expired) ends_.erase(id);
    CheckSize(step);
    std::vector<uint64_t> ids;
    std::vector<std::pair<uint64_t, Token>> next;
    for (const StepPart& part : step.parts) {
      ids.push_back(part.id);
      const Token token = network_.Compute(part);
      if (part.is_last) next.emplace_back(part.id, token);
    }
    scheduler.SetComputed(step);
    for (const auto& [id, token] : next) {
      EXPECT_EQ(token, NextOf(scheduler.TokensOf(id))) << "sequence " << id;
      scheduler.Append(id, token);
      if (scheduler.TokensOf(id).size() == ends_[id]) End(id);
    }
    return ids;
  }
  void End(uint64_t id) {
    scheduler.End(id);
    ends_.erase(id);
  }
  void RunAll() {
    while (!ends_.empty()) ASSERT_THAT(RunStep(), Not(IsEmpty()));
  }
  bool Has(uint64_t id) const { return ends_.contains(id); }
  std::vector<uint64_t> ids() const {
    std::vector<uint64_t> all;
    for (const auto& [id, end] : ends_) all.push_back(id);
    return all;
  }

 private:
  void CheckSize(const Step& step) {
    int64_t tokens = 0;
    for (const StepPart& part : step.parts) tokens += static_cast<int64_t>(part.tokens.size());
    EXPECT_LE(tokens, limits_.max_step_tokens);
    EXPECT_LE(step.parts.size(), limits_.max_sequences);
  }

  const TokenScheduler::Limits limits_;

 public:
  TokenScheduler scheduler;
  TokenTime now = kStart;

 private:
  HashNetwork network_;
  std::map<uint64_t, size_t> ends_;  // lengths at which sequences end
};

TokenScheduler::Limits Roomy() {
  return {
      .blocks = 64, .block_size = 4, .max_step_tokens = 8, .max_sequences = 8, .max_waiting = 8};
}

std::vector<Token> Prompt(size_t length, Token first = 100) {
  std::vector<Token> prompt(length);
  for (size_t i = 0; i < length; ++i) prompt[i] = first + static_cast<Token>(i);
  return prompt;
}

TEST(TokenSchedulerTest, PromptsGoInPiecesAndNextTokensComeFirst) {
  Engine engine(Roomy());
  engine.Add(1, Prompt(3), 10);
  EXPECT_THAT(engine.RunStep(), ElementsAre(1));
  engine.Add(2, Prompt(20, 300), 10);
  std::vector<size_t> pieces;
  for (int i = 0; i < 3; ++i) {
    const Step step = engine.scheduler.Plan(kStart);
    ASSERT_THAT(step.parts, SizeIs(2));
    EXPECT_EQ(step.parts[0].id, 1u);
    EXPECT_THAT(step.parts[0].tokens, SizeIs(1));
    EXPECT_TRUE(step.parts[0].is_last);
    EXPECT_EQ(step.parts[1].is_last, i == 2);
    pieces.push_back(step.parts[1].tokens.size());
    engine.scheduler.SetComputed(step);
    engine.scheduler.Append(1, 5);
  }
  EXPECT_THAT(pieces, ElementsAre(7, 7, 6));
}

TEST(TokenSchedulerTest, WhatCannotFitIsRefusedAndTheQueueIsBounded) {
  TokenScheduler::Limits limits = Roomy();
  limits.blocks = 4;  // 16 tokens
  limits.max_waiting = 2;
  Engine engine(limits);
  EXPECT_EQ(engine.Add(1, Prompt(10), 8), Admission::kNeverFits);
  EXPECT_EQ(engine.Add(2, Prompt(10), 7), Admission::kTaken);
  EXPECT_EQ(engine.Add(3, Prompt(16), 1), Admission::kTaken);
  EXPECT_EQ(engine.Add(4, Prompt(1), 1), Admission::kTooManyWait);
  SequenceSpec part{.id = 5, .prompt = Prompt(1), .counted = false};
  EXPECT_EQ(engine.scheduler.Add(part), Admission::kTaken);
  engine.scheduler.End(5);
  engine.RunAll();
  EXPECT_EQ(engine.scheduler.pool().available(), 4u);
}

TEST(TokenSchedulerTest, TheBeginningOfAPromptIsComputedOnce) {
  Engine engine(Roomy());
  engine.Add(1, Prompt(12), 2);
  engine.RunAll();
  engine.Add(2, Prompt(12), 2);
  // Two blocks of three are found: the last token has to be computed.
  const Step step = engine.scheduler.Plan(kStart);
  ASSERT_THAT(step.parts, SizeIs(1));
  EXPECT_EQ(step.parts[0].past, 8);
  EXPECT_THAT(step.parts[0].tokens, SizeIs(4));
  EXPECT_EQ(engine.scheduler.counts().cached_tokens, 8u);
  engine.RunAll();
}

TEST(TokenSchedulerTest, TheLeastImportantGivesItsBlocksBackAndGoesOnLater) {
  TokenScheduler::Limits limits = Roomy();
  limits.blocks = 8;
  limits.prefix_cache = false;
  Engine engine(limits);
  engine.Add(1, Prompt(8), 20);
  engine.Add(2, Prompt(8, 300), 20);
  engine.RunAll();
  EXPECT_GT(engine.scheduler.counts().preemptions, 0u);
  EXPECT_EQ(engine.scheduler.pool().available(), 8u);
}

TEST(TokenSchedulerTest, LowerPrioritiesRunFirstAndTakeThePlaceOfHigherOnes) {
  TokenScheduler::Limits limits = Roomy();
  limits.max_sequences = 1;
  Engine engine(limits);
  engine.Add(1, Prompt(3), 10, 5);
  EXPECT_THAT(engine.RunStep(), ElementsAre(1));
  engine.Add(2, Prompt(3), 2, 5);
  engine.Add(3, Prompt(3), 2, 4);
  EXPECT_THAT(engine.RunStep(), ElementsAre(3));
  EXPECT_THAT(engine.RunStep(), ElementsAre(3));
  EXPECT_THAT(engine.RunStep(), ElementsAre(1)) << "it ran before";
  engine.RunAll();
}

TEST(TokenSchedulerTest, TenantsGetTheSameNumberOfTokens) {
  TokenScheduler::Limits limits = Roomy();
  limits.max_sequences = 1;
  limits.max_waiting = 100;
  limits.prefix_cache = false;
  Engine engine(limits);
  for (uint64_t id = 1; id <= 20; ++id) engine.Add(id, Prompt(4), 5, 0, "many");
  for (uint64_t id = 101; id <= 104; ++id) engine.Add(id, Prompt(4), 5, 0, "few");
  std::vector<uint64_t> order;
  while (order.size() < 8) {
    const std::vector<uint64_t> ids = engine.RunStep();
    ASSERT_THAT(ids, SizeIs(1));
    if (order.empty() || order.back() != ids[0]) order.push_back(ids[0]);
  }
  EXPECT_THAT(order, ElementsAre(1, 101, 2, 102, 3, 103, 4, 104));
}

TEST(TokenSchedulerTest, OneThatWasAwayDoesNotCatchUp) {
  TokenScheduler::Limits limits = Roomy();
  limits.max_sequences = 1;
  limits.max_waiting = 100;
  Engine engine(limits);
  for (uint64_t id = 1; id <= 6; ++id) engine.Add(id, Prompt(4), 5, 0, "busy");
  while (engine.Has(4)) engine.RunStep();
  for (uint64_t id = 101; id <= 103; ++id) engine.Add(id, Prompt(4), 5, 0, "new");
  engine.RunStep();
  while (engine.Has(5)) engine.RunStep();
  while (engine.Has(101)) engine.RunStep();
  engine.RunStep();
  EXPECT_THAT(engine.RunStep(), ElementsAre(6));
}

TEST(TokenSchedulerTest, DeadlinesEndSequencesThatRunAndThatWait) {
  TokenScheduler::Limits limits = Roomy();
  limits.max_sequences = 1;
  Engine engine(limits);
  engine.Add(1, Prompt(3), 10, 0, "", kStart + milliseconds(5));
  engine.Add(2, Prompt(3), 10, 0, "", kStart + milliseconds(5));
  engine.Add(3, Prompt(3), 10, 0, "", kStart + milliseconds(6));
  EXPECT_THAT(engine.RunStep(), ElementsAre(1));
  engine.now += milliseconds(5);
  EXPECT_THAT(engine.RunStep(), ElementsAre(3));
  EXPECT_FALSE(engine.Has(1));
  EXPECT_FALSE(engine.Has(2));
  EXPECT_EQ(engine.scheduler.waiting(), 0u);
}

TEST(TokenSchedulerTest, ASequenceMayEndWhileItsStepIsComputed) {
  Engine engine(Roomy());
  engine.Add(1, Prompt(8), 10);
  engine.Add(2, Prompt(8), 10);
  const Step step = engine.scheduler.Plan(kStart);
  engine.End(1);
  engine.scheduler.SetComputed(step);
  engine.End(2);
  EXPECT_EQ(engine.scheduler.pool().available(), 64u);
}

// Random prompts that share beginnings, priorities, tenants, ends and deadlines, in a pool that is
// too small. Every token is compared with that of the whole history, and all blocks come back.
class RandomOperations : public ::testing::TestWithParam<int> {};

TEST_P(RandomOperations, GiveTheTokensOfTheWholeHistoryAndAllBlocksBack) {
  std::mt19937 random(static_cast<uint32_t>(GetParam()));
  const auto below = [&random](uint32_t bound) { return random() % bound; };
  const TokenScheduler::Limits limits = {.blocks = 12 + static_cast<int32_t>(below(30)),
                                         .block_size = 1 + static_cast<int32_t>(below(6)),
                                         .max_step_tokens = 4 + static_cast<int64_t>(below(20)),
                                         .max_sequences = 2 + below(3),
                                         .max_waiting = 6,
                                         .prefix_cache = GetParam() % 4 != 0};
  Engine engine(limits);
  uint64_t added = 0;
  std::map<Admission, int> admissions;
  for (int operation = 0; operation < 90'000; ++operation) {
    const uint32_t kind = below(10);
    if (kind < 3) {
      std::vector<Token> prompt = Prompt(1 + below(24), below(3) * 100);
      if (below(2) == 0) prompt.back() = below(1000);
      const TokenTime deadline =
          below(5) == 0 ? engine.now + milliseconds(1 + below(40)) : TokenTime::max();
      ++admissions[engine.Add(++added, std::move(prompt), 1 + below(30), below(3),
                              std::string(1, static_cast<char>('a' + below(3))), deadline)];
    } else if (kind == 3) {
      const std::vector<uint64_t> ids = engine.ids();
      if (!ids.empty()) engine.End(ids[below(static_cast<uint32_t>(ids.size()))]);
    } else {
      const bool idle = engine.ids().empty();
      const bool computed = !engine.RunStep().empty();
      // What waits goes on as soon as nothing runs.
      EXPECT_TRUE(computed || idle || engine.ids().empty());
    }
    engine.now += milliseconds(1);
    ASSERT_FALSE(HasFailure()) << "operation " << operation;
  }
  engine.RunAll();
  EXPECT_EQ(engine.scheduler.pool().available(), engine.scheduler.pool().size());
  EXPECT_EQ(engine.scheduler.running() + engine.scheduler.waiting(), 0u);
  EXPECT_GT(admissions[Admission::kTaken], 1000);
  EXPECT_EQ(engine.scheduler.counts().cached_tokens > 0, limits.prefix_cache);
  EXPECT_GT(engine.scheduler.counts().preemptions, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOperations, ::testing::Range(1, 13));

}  // namespace
}  // namespace nereid_backend
