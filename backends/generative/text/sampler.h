// SPDX-License-Identifier: Apache-2.0
// Sampler: chooses the next token of one sequence from the network's logits. The same parameters,
// seed and logits give the same tokens, on every machine. Pure but for its state;
// thread-compatible.
#ifndef NEREID_BACKENDS_GENERATIVE_TEXT_SAMPLER_H_
#define NEREID_BACKENDS_GENERATIVE_TEXT_SAMPLER_H_

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/generative/scheduler/block_pool.h"

namespace nereid_backend {

struct SamplingParameters {
  double temperature = 1;         // 0: the most probable token, always
  int64_t top_k = 0;              // among so many of the most probable ones; 0: all
  double top_p = 1;               // among the fewest that have this probability together
  double min_p = 0;               // among those with this part of the highest probability
  double repetition_penalty = 1;  // logits of tokens that occurred are divided by it, or multiplied
  double presence_penalty = 0;    // taken off the logits of tokens that were generated,
  double frequency_penalty = 0;   // and this for each time
  std::vector<std::pair<Token, double>> logit_bias;  // added to logits
};

class Sampler {
 public:
  Sampler(SamplingParameters parameters, uint64_t seed, std::span<const Token> prompt);

  // The next token, which counts as generated. Tokens of `excluded` are not chosen. Nothing if no
  // logit is a number.
  std::optional<Token> Sample(std::span<const float> logits, std::span<const Token> excluded = {});

 private:
  struct Candidate {
    Token token;
    float logit;
    double weight;  // probability times a constant
  };

  void Adjust(std::span<const Token> excluded);
  Token MostProbable() const;
  Token Draw();
  // Fills candidates_ and keeps the most probable ones.
  void KeepTopK();
  void KeepTopP();
  double Total() const;

  const SamplingParameters parameters_;
  std::mt19937_64 random_;
  std::unordered_map<Token, int64_t> occurred_;  // how often each was generated
  std::vector<float> logits_;
  std::vector<Candidate> candidates_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_TEXT_SAMPLER_H_
