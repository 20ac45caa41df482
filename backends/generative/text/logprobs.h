// SPDX-License-Identifier: Apache-2.0
// How probable a network found a token, and which tokens it found most probable: logarithms of
// probabilities, and the JSON in which clients get them. Pure functions.
#ifndef NEREID_BACKENDS_GENERATIVE_TEXT_LOGPROBS_H_
#define NEREID_BACKENDS_GENERATIVE_TEXT_LOGPROBS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/generative/scheduler/block_pool.h"
#include "backends/generative/text/text_stream.h"

namespace nereid_backend {

struct TokenLogprob {
  Token token = 0;
  double logprob = 0;  // kLeastLogprob or more
  int64_t rank = 1;    // 1: the most probable token; of equal ones the lower token comes first
};

// Stands for everything below it, also for minus infinity, which JSON does not have.
inline constexpr double kLeastLogprob = -9999;

// `token`, and then the `top` most probable tokens without it, by rank; what is no number is
// impossible. REQUIRES: `token` has a logit.
std::vector<TokenLogprob> LogprobsOf(std::span<const float> logits, Token token, size_t top);

// {"5":{"logprob":-0.25,"rank":1,"decoded_token":" a"},...}, in their order. Texts are those that
// the tokens have after the tokens `before`; without `decode` there are none.
std::string LogprobsJson(std::span<const TokenLogprob> logprobs, const TextStream::Decode& decode,
                         std::span<const Token> before);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_TEXT_LOGPROBS_H_
