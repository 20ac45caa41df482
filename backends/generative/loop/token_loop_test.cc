// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/loop/token_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <stdexcept>
#include <string>

#include "backends/generative/loop/loop_meter.h"

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Token kPoison = 9;     // a step with it fails
constexpr Token kNoNumbers = 8;  // its logits are not numbers

// The next token is the last one plus one, of ten.
class CountingNetwork : public StepNetwork {
 public:
  Error Compute(const Step& step) override {
    logits_.clear();
    for (const StepPart& part : step.parts) {
      const Token last = part.tokens.back();
      if (last == kPoison) throw std::runtime_error("poison");
      if (!part.is_last) continue;
      logits_.emplace_back(10, last == kNoNumbers ? NAN : 0.0F);
      if (last != kNoNumbers) logits_.back()[static_cast<size_t>(last + 1) % 10] = 1;
    }
    return Error();
  }
  std::span<const float> Logits(size_t index) const override { return logits_[index]; }

 private:
  std::vector<std::vector<float>> logits_;
};

// What a client gets. It outlives its answer.
struct Client {
  std::vector<Token> tokens;                        // constant from the end on
  std::vector<std::vector<Token>> choices;          // the tokens of each
  size_t left = 1;                                  // choices without an end
  std::vector<std::vector<TokenLogprob>> logprobs;  // of each
  int sent = 0;
  bool has_end_token = false;
  std::promise<std::string> end;  // "stop", "length", or an error
  bool gives_up = false;
  bool refuses = false;  // what is sent to it
  Token stop = -1;       // completes the answer, as a stop string does

  // Waits for the end.
  std::string End() { return end.get_future().get(); }
};

class ClientAnswer : public Answer {
 public:
  explicit ClientAnswer(Client* client) : client_(client) {}

  bool IsCancelled() const override { return client_->gives_up; }
  bool Add(size_t choice, Token token, std::span<const TokenLogprob> logprobs) override {
    Note(choice, token);
    client_->logprobs.emplace_back(logprobs.begin(), logprobs.end());
    return token == client_->stop;
  }
  void AddEnd(size_t choice, Token token, std::span<const TokenLogprob> /*logprobs*/) override {
    Note(choice, token);
    client_->has_end_token = true;
  }
  Error Send() override {
    ++client_->sent;
    return client_->refuses ? Error::Internal("no buffer") : Error();
  }
  Error Finish(size_t /*choice*/, FinishReason reason) override {
    if (--client_->left > 0) return Error();
    client_->end.set_value(reason == FinishReason::kStop ? "stop" : "length");
    return Error();
  }
  // Once: a second value would throw.
  void Fail(const Error& error) override { client_->end.set_value(error.message()); }

 private:
  void Note(size_t choice, Token token) {
    client_->tokens.push_back(token);
    client_->choices.resize(std::max(client_->choices.size(), choice + 1));
    client_->choices[choice].push_back(token);
  }

  Client* const client_;
};

class TokenLoopTest : public ::testing::Test {
 protected:
  void Add(std::vector<Token> prompt, int64_t max_tokens, Client* client,
           std::vector<Token> stops = {}) {
    Generation generation;
    generation.prompt = std::move(prompt);
    generation.max_tokens = max_tokens;
    generation.stop_tokens = std::move(stops);
    generation.sampling.temperature = 0;
    loop_->Add(std::move(generation), std::make_unique<ClientAnswer>(client));
  }

  std::unique_ptr<TokenLoop> loop_ =
      std::make_unique<TokenLoop>(std::make_unique<CountingNetwork>(),
                                  TokenScheduler::Limits{.blocks = 4,
                                                         .block_size = 2,
                                                         .max_step_tokens = 4,
                                                         .max_sequences = 4,
                                                         .max_waiting = 100},
                                  std::vector<Token>{7});
};

TEST_F(TokenLoopTest, GeneratesUntilTheLastToken) {
  Client client;
  Add({0, 1}, 3, &client);
  EXPECT_EQ(client.End(), "length");
  EXPECT_THAT(client.tokens, ElementsAre(2, 3, 4));
  EXPECT_EQ(client.sent, 2);  // Finish sends the last one
}

TEST_F(TokenLoopTest, TellsHowProbableTokensWereIfThatIsWanted) {
  Client client, other;
  Generation generation;
  generation.prompt = {1};
  generation.max_tokens = 2;
  generation.logprobs = 1;
  generation.sampling.temperature = 0;
  generation.sampling.logit_bias = {{5, 100}};
  loop_->Add(std::move(generation), std::make_unique<ClientAnswer>(&client));
  EXPECT_EQ(client.End(), "length");
  EXPECT_THAT(client.tokens, ElementsAre(5, 5));
  ASSERT_EQ(client.logprobs[0].size(), 2u);
  // As the network found it, whatever the request adds.
  EXPECT_EQ(client.logprobs[0][0].token, 5);
  EXPECT_NEAR(client.logprobs[0][0].logprob, -std::log(9 + std::exp(1.0)), 1e-6);
  EXPECT_EQ(client.logprobs[0][1].token, 2);
  EXPECT_EQ(client.logprobs[1][1].token, 6);
  Add({1}, 1, &other);
  EXPECT_EQ(other.End(), "length");
  EXPECT_EQ(other.logprobs[0].size(), 0u);
}

TEST_F(TokenLoopTest, ChoicesAreThoseOfSeedsThatFollow) {
  const auto ask = [this](uint64_t seed, int64_t choices) {
    Client client;
    client.left = static_cast<size_t>(choices);
    Generation generation;
    generation.prompt = {0, 1, 2};
    generation.max_tokens = 4;
    generation.choices = choices;
    generation.seed = seed;
    generation.ignore_end = true;
    generation.sampling.temperature = 5;
    generation.sampling.logit_bias = {{kPoison, -100}, {kNoNumbers, -100}};
    loop_->Add(std::move(generation), std::make_unique<ClientAnswer>(&client));
    EXPECT_EQ(client.End(), "length");
    return client.choices;
  };
  // All of them want eight blocks, and there are four.
  const std::vector<std::vector<Token>> choices = ask(40, 3);
  ASSERT_EQ(choices.size(), 3u);
  for (size_t i = 0; i < choices.size(); ++i) {
    EXPECT_THAT(ask(40 + i, 1), ElementsAre(choices[i]));
  }
  EXPECT_NE(choices[0], choices[1]);
}

TEST_F(TokenLoopTest, ChoicesMayEndWithTheirFirstToken) {
  Client client;
  client.left = 4;
  Generation generation;
  generation.prompt = {6};
  generation.max_tokens = 5;
  generation.choices = 4;
  generation.sampling.temperature = 0;
  loop_->Add(std::move(generation), std::make_unique<ClientAnswer>(&client));
  EXPECT_EQ(client.End(), "stop");
  EXPECT_THAT(client.tokens, ElementsAre(7, 7, 7, 7));
}

TEST_F(TokenLoopTest, AnErrorOfAChoiceEndsTheOthers) {
  Client client, next;
  client.left = 3;
  Generation generation;
  generation.prompt = {kPoison - 2};
  generation.max_tokens = 5;
  generation.choices = 3;
  generation.ignore_end = true;
  generation.sampling.temperature = 0;
  generation.sampling.logit_bias = {{kNoNumbers, -1000}, {kPoison, 1000}};
  loop_->Add(std::move(generation), std::make_unique<ClientAnswer>(&client));
  EXPECT_EQ(client.End(), "poison");
  EXPECT_THAT(client.tokens, ElementsAre(kPoison, kPoison, kPoison));
  Add({0}, 2, &next);
  EXPECT_EQ(next.End(), "length");
}

TEST_F(TokenLoopTest, AnEndTokenIsTheLast) {
  Client of_network, of_request;
  Add({5}, 8, &of_network);
  Add({1}, 8, &of_request, {3});
  EXPECT_EQ(of_network.End(), "stop");
  EXPECT_EQ(of_request.End(), "stop");
  EXPECT_TRUE(of_network.has_end_token);
  EXPECT_THAT(of_network.tokens, ElementsAre(6, 7));
  EXPECT_THAT(of_request.tokens, ElementsAre(2, 3));
}

TEST_F(TokenLoopTest, AStopStringIsTheEnd) {
  Client client;
  client.stop = 3;
  Add({1}, 8, &client);
  EXPECT_EQ(client.End(), "stop");
  EXPECT_THAT(client.tokens, ElementsAre(2, 3));
  EXPECT_FALSE(client.has_end_token);
}

TEST_F(TokenLoopTest, AFailedStepEndsItsRequestsAndTheModelGoesOn) {
  Client failed, next;
  Add({kPoison}, 3, &failed);
  EXPECT_EQ(failed.End(), "poison");
  Add({0}, 2, &next);
  EXPECT_EQ(next.End(), "length");
  EXPECT_THAT(next.tokens, ElementsAre(1, 2));
}

TEST_F(TokenLoopTest, LogitsThatAreNoNumbersAreAnError) {
  Client client;
  Add({kNoNumbers}, 3, &client);
  EXPECT_EQ(client.End(), "the network's logits are not numbers");
}

TEST_F(TokenLoopTest, ACancelledRequestGetsNoToken) {
  Client client;
  client.gives_up = true;
  Add({0}, 3, &client);
  EXPECT_EQ(client.End(), "the request was cancelled");
  EXPECT_EQ(client.tokens, std::vector<Token>());
}

TEST_F(TokenLoopTest, WhatCannotBeSentEndsItsRequest) {
  Client client;
  client.refuses = true;
  Add({0}, 3, &client);
  EXPECT_EQ(client.End(), "no buffer");
}

TEST_F(TokenLoopTest, RefusesWhatNeverFits) {
  Client client, largest;
  Add({0, 1, 2}, 7, &client);
  EXPECT_THAT(client.End(), HasSubstr("the prompt of 3 tokens and 7 new ones never fit into the 8 "
                                      "tokens for which there is memory"));
  Add({0, 1, 2}, 4, &largest);
  EXPECT_EQ(largest.End(), "length");
  // Such a prompt does not even wait for the step under way.
  Client huge;
  Add(std::vector<Token>(9), 1, &huge);
  EXPECT_THAT(huge.End(), HasSubstr("the prompt of 9 tokens and 1 new ones never fit into the 8 "));
}

TEST_F(TokenLoopTest, AnswersAllBeforeItEnds) {
  std::vector<Client> clients(20);  // more than there are blocks for
  for (Client& client : clients) Add({0, 1}, 5, &client);
  loop_.reset();
  for (Client& client : clients) {
    EXPECT_EQ(client.End(), "length");
    EXPECT_THAT(client.tokens, ElementsAre(2, 3, 4, 5, 6));
  }
}

// What it has been told.
class NotingMeter : public LoopMeter {
 public:
  struct Notes {
    int first = 0;
    int next = 0;
    Counts counts;
    bool measured = true;  // times are not negative
  };
  explicit NotingMeter(Notes* notes) : notes_(notes) {}

  void OnFirstToken(double seconds) override {
    ++notes_->first;
    notes_->measured &= seconds >= 0;
  }
  void OnNextToken(double seconds) override {
    ++notes_->next;
    notes_->measured &= seconds >= 0;
  }
  void OnStep(const Counts& counts) override { notes_->counts = counts; }

 private:
  Notes* const notes_;
};

TEST(TokenLoopMeterTest, IsToldOfTokensAndBlocks) {
  NotingMeter::Notes notes;
  std::vector<Client> clients(2);
  {
    TokenLoop loop(std::make_unique<CountingNetwork>(),
                   {.blocks = 4,
                    .block_size = 2,
                    .max_step_tokens = 4,
                    .max_sequences = 4,
                    .max_waiting = 100},
                   {}, std::make_unique<NotingMeter>(&notes));
    for (Client& client : clients) {
      Generation generation;
      generation.prompt = {0, 1, 2};
      generation.max_tokens = 3;
      generation.sampling.temperature = 0;
      loop.Add(std::move(generation), std::make_unique<ClientAnswer>(&client));
      EXPECT_EQ(client.End(), "length");
    }
  }
  EXPECT_EQ(notes.first, 2);
  EXPECT_EQ(notes.next, 4);
  EXPECT_TRUE(notes.measured);
  EXPECT_EQ(notes.counts.generated_tokens, 6u);
  EXPECT_EQ(notes.counts.prompt_tokens, 6u);
  EXPECT_EQ(notes.counts.cached_tokens, 2u);
  EXPECT_EQ(notes.counts.blocks, 4u);
  EXPECT_EQ(notes.counts.used_blocks, 0u);
  EXPECT_EQ(notes.counts.running, 0u);
}

TEST(TokenLoopMeterTest, ChoicesShareTheBlocksOfTheirPrompt) {
  NotingMeter::Notes notes;
  Client client;
  client.left = 3;
  {
    // No other request may wait, and one sequence runs at a time.
    TokenLoop loop(std::make_unique<CountingNetwork>(),
                   {.blocks = 20, .block_size = 2, .max_step_tokens = 4, .max_waiting = 1}, {},
                   std::make_unique<NotingMeter>(&notes));
    Generation generation;
    generation.prompt = {0, 1, 2, 3, 4};
    generation.max_tokens = 3;
    generation.choices = 3;
    generation.sampling.temperature = 0;
    loop.Add(std::move(generation), std::make_unique<ClientAnswer>(&client));
    EXPECT_EQ(client.End(), "length");
  }
  EXPECT_THAT(client.choices,
              ElementsAre(ElementsAre(5, 6, 7), ElementsAre(5, 6, 7), ElementsAre(5, 6, 7)));
  EXPECT_EQ(notes.first, 3);
  EXPECT_EQ(notes.next, 6);
  EXPECT_EQ(notes.counts.generated_tokens, 9u);
  // Two full blocks of the prompt; the third one has a token of the choice. It is full, too, and
  // the same for those that come later.
  EXPECT_EQ(notes.counts.prompt_tokens, 5u + 6u + 6u);
  EXPECT_GE(notes.counts.cached_tokens, 4u + 4u);
  EXPECT_EQ(notes.counts.used_blocks, 0u);
}

std::atomic<uint64_t> test_now = 0;  // nanoseconds
uint64_t TestNow() { return test_now; }

// A step takes a millisecond.
class SlowNetwork : public CountingNetwork {
 public:
  Error Compute(const Step& step) override {
    test_now += 1'000'000;
    return CountingNetwork::Compute(step);
  }
};

Generation Greedy(std::vector<Token> prompt, int64_t max_tokens) {
  Generation generation;
  generation.prompt = std::move(prompt);
  generation.max_tokens = max_tokens;
  generation.ignore_end = true;
  generation.sampling.temperature = 0;
  generation.sampling.logit_bias = {{kPoison, -1000}, {kNoNumbers, -1000}};
  return generation;
}

TEST(TokenLoopOrderTest, ARequestEndsWhenItsTimeoutHasPassed) {
  TokenLoop loop(
      std::make_unique<SlowNetwork>(),
      {.blocks = 100, .block_size = 2, .max_step_tokens = 8, .max_sequences = 8, .max_waiting = 10},
      {}, nullptr, &TestNow);
  Client late, early;
  late.left = 2;
  Generation generation = Greedy({0}, 50);
  generation.timeout_ns = 10'000'000;
  generation.choices = 2;
  loop.Add(std::move(generation), std::make_unique<ClientAnswer>(&late));
  EXPECT_EQ(late.End(), "the request was not complete within its timeout of 10000 microseconds");
  EXPECT_EQ(late.choices[0].size(), 10u);
  EXPECT_EQ(late.choices[1].size(), 10u);
  generation = Greedy({0}, 5);
  generation.timeout_ns = 10'000'000;
  loop.Add(std::move(generation), std::make_unique<ClientAnswer>(&early));
  EXPECT_EQ(early.End(), "length");
}

// Says when its first step begins, and waits there.
struct Gate {
  std::promise<void> reached;
  std::promise<void> open;
};

class GatedNetwork : public CountingNetwork {
 public:
  explicit GatedNetwork(Gate* gate) : gate_(gate) {}
  Error Compute(const Step& step) override {
    if (gate_ != nullptr) {
      gate_->reached.set_value();
      gate_->open.get_future().wait();
      gate_ = nullptr;
    }
    return CountingNetwork::Compute(step);
  }

 private:
  Gate* gate_;
};

TEST(TokenLoopOrderTest, PrioritiesAndTenantsDecideWhoIsNext) {
  Gate gate;
  std::vector<std::string> order;  // in which requests ended
  struct Named : ClientAnswer {
    Named(Client* client, std::string name, std::vector<std::string>* order)
        : ClientAnswer(client), name_(std::move(name)), order_(order) {}
    Error Finish(size_t choice, FinishReason reason) override {
      order_->push_back(name_);
      return ClientAnswer::Finish(choice, reason);
    }
    const std::string name_;
    std::vector<std::string>* const order_;
  };
  std::vector<Client> clients(6);
  {
    TokenLoop loop(std::make_unique<GatedNetwork>(&gate),
                   {.blocks = 100, .block_size = 2, .max_step_tokens = 8, .max_waiting = 10}, {});
    size_t next = 0;
    const auto add = [&](const char* name, const char* tenant, int64_t priority) {
      Generation generation = Greedy({0}, 6);
      generation.tenant = tenant;
      generation.priority = priority;
      loop.Add(std::move(generation), std::make_unique<Named>(&clients[next++], name, &order));
    };
    add("first", "many", 2);
    gate.reached.get_future().wait();
    for (const char* name : {"second", "third"}) add(name, "many", 2);
    add("fair", "few", 2);
    add("last", "few", 3);
    add("urgent", "many", 1);
    gate.open.set_value();
  }
  EXPECT_THAT(order, ElementsAre("urgent", "first", "fair", "second", "third", "last"));
}

TEST(TokenLoopAdmissionTest, RefusesWhenTooManyWait) {
  TokenLoop loop(std::make_unique<CountingNetwork>(),
                 {.blocks = 4, .block_size = 2, .max_waiting = 0}, {});
  Client client;
  Generation generation;
  generation.prompt = {0};
  generation.max_tokens = 2;
  loop.Add(std::move(generation), std::make_unique<ClientAnswer>(&client));
  EXPECT_THAT(client.End(), HasSubstr("0 requests wait already (parameter 'max_waiting')"));
}

}  // namespace
}  // namespace nereid_backend
