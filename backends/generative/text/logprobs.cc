// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/text/logprobs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends/sdk/json.h"

namespace nereid_backend {
namespace {

float Comparable(float logit) {
  return std::isnan(logit) ? -std::numeric_limits<float>::infinity() : logit;
}

// Whether token `a` is more probable than `b`.
bool ComesBefore(std::span<const float> logits, size_t a, size_t b) {
  const float of_a = Comparable(logits[a]);
  const float of_b = Comparable(logits[b]);
  return of_a != of_b ? of_a > of_b : a < b;
}

// The logarithm of the sum of all powers.
double LogTotal(std::span<const float> logits, double highest) {
  double total = 0;
  for (const float logit : logits) {
    if (!std::isnan(logit)) total += std::exp(static_cast<double>(logit) - highest);
  }
  return highest + std::log(total);
}

// Its bytes after `text_before`, which is the text of `before`. If they depend on each other, as
// the bytes of one character do, those that it has alone.
std::string TextAfter(Token token, const TextStream::Decode& decode, std::span<const Token> before,
                      const std::string& text_before) {
  std::vector<Token> together(before.begin(), before.end());
  together.push_back(token);
  const std::string text = decode(together);
  if (text.starts_with(text_before)) return ValidUtf8(text.substr(text_before.size()));
  return ValidUtf8(decode(std::span(&token, 1)));
}

}  // namespace

std::vector<TokenLogprob> LogprobsOf(std::span<const float> logits, Token token, size_t top) {
  const auto chosen = static_cast<size_t>(token);
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto sorted = order.begin() + static_cast<std::ptrdiff_t>(std::min(top, order.size()));
  const auto before = [logits](size_t a, size_t b) { return ComesBefore(logits, a, b); };
  std::partial_sort(order.begin(), sorted, order.end(), before);
  double highest = -std::numeric_limits<double>::infinity();
  int64_t rank = 1;
  for (size_t i = 0; i < logits.size(); ++i) {
    highest = std::max<double>(highest, Comparable(logits[i]));
    if (before(i, chosen)) ++rank;
  }
  const double log_total = LogTotal(logits, highest);
  const auto of = [&](size_t index, int64_t its_rank) {
    const double logprob = static_cast<double>(Comparable(logits[index])) - log_total;
    // Infinity less infinity is no number, and fails the comparison, too.
    return TokenLogprob{static_cast<Token>(index),
                        logprob >= kLeastLogprob ? logprob : kLeastLogprob, its_rank};
  };
  std::vector<TokenLogprob> result = {of(chosen, rank)};
  for (auto one = order.begin(); one != sorted; ++one) {
    if (*one != chosen) result.push_back(of(*one, one - order.begin() + 1));
  }
  return result;
}

std::string LogprobsJson(std::span<const TokenLogprob> logprobs, const TextStream::Decode& decode,
                         std::span<const Token> before) {
  const std::string text_before = decode && !before.empty() ? decode(before) : "";
  Json all = Json::MakeObject();
  for (const TokenLogprob& one : logprobs) {
    Json json = Json::MakeObject();
    json.Set("logprob", one.logprob);
    json.Set("rank", one.rank);
    if (decode) json.Set("decoded_token", TextAfter(one.token, decode, before, text_before));
    all.Set(std::to_string(one.token), std::move(json));
  }
  return all.Write();
}

}  // namespace nereid_backend
