// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/text/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid_backend {
namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

// Uniform in [0, 1): the standard library's distribution is not the same everywhere.
double UniformOf(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

}  // namespace

Sampler::Sampler(SamplingParameters parameters, uint64_t seed, std::span<const Token> prompt)
    : parameters_(std::move(parameters)), random_(seed) {
  if (parameters_.repetition_penalty == 1) return;
  for (const Token token : prompt) occurred_.try_emplace(token, 0);
}

std::optional<Token> Sampler::Sample(std::span<const float> logits,
                                     std::span<const Token> excluded) {
  logits_.assign(logits.begin(), logits.end());
  Adjust(excluded);
  const Token best = MostProbable();
  if (logits_.empty() || logits_[static_cast<size_t>(best)] == kImpossible) return std::nullopt;
  const Token chosen = parameters_.temperature == 0 ? best : Draw();
  ++occurred_[chosen];
  return chosen;
}

void Sampler::Adjust(std::span<const Token> excluded) {
  for (float& logit : logits_) {
    if (std::isnan(logit)) logit = kImpossible;
  }
  const auto at = [this](Token token) {
    const auto index = static_cast<uint64_t>(token);
    return index < logits_.size() ? &logits_[index] : nullptr;
  };
  for (const auto& [token, count] : occurred_) {
    float* const logit = at(token);
    if (logit == nullptr) continue;
    const double value = *logit;
    double changed =
        value > 0 ? value / parameters_.repetition_penalty : value * parameters_.repetition_penalty;
    if (count > 0) changed -= parameters_.presence_penalty;
    changed -= parameters_.frequency_penalty * static_cast<double>(count);
    *logit = static_cast<float>(changed);
  }
  for (const auto& [token, bias] : parameters_.logit_bias) {
    if (float* const logit = at(token)) *logit = static_cast<float>(*logit + bias);
  }
  for (const Token token : excluded) {
    if (float* const logit = at(token)) *logit = kImpossible;
  }
}

Token Sampler::MostProbable() const {
  return std::max_element(logits_.begin(), logits_.end()) - logits_.begin();
}

void Sampler::KeepTopK() {
  candidates_.clear();
  for (size_t i = 0; i < logits_.size(); ++i) {
    if (logits_[i] != kImpossible) candidates_.push_back({static_cast<Token>(i), logits_[i], 0});
  }
  const auto count = static_cast<size_t>(parameters_.top_k);
  if (count == 0 || count >= candidates_.size()) return;
  std::nth_element(candidates_.begin(), candidates_.begin() + parameters_.top_k, candidates_.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
                   });
  candidates_.resize(count);
}

double Sampler::Total() const {
  double total = 0;
  for (const Candidate& candidate : candidates_) total += candidate.weight;
  return total;
}

void Sampler::KeepTopP() {
  if (parameters_.top_p >= 1) return;
  const double total = Total();
  // Those below this have less than 1 - top_p together, and need no sorting.
  const double least = total * (1 - parameters_.top_p) / static_cast<double>(candidates_.size());
  std::erase_if(candidates_, [least](const Candidate& one) { return one.weight < least; });
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
  });
  double sum = 0;
  size_t kept = 0;
  while (kept < candidates_.size() && (kept == 0 || sum < parameters_.top_p * total)) {
    sum += candidates_[kept++].weight;
  }
  candidates_.resize(kept);
}

Token Sampler::Draw() {
  KeepTopK();
  const float highest = logits_[static_cast<size_t>(MostProbable())];
  for (Candidate& one : candidates_) {
    one.weight = std::exp((static_cast<double>(one.logit) - highest) / parameters_.temperature);
    // Infinity less infinity.
    if (std::isnan(one.weight)) one.weight = 1;
  }
  std::erase_if(candidates_,
                [this](const Candidate& one) { return one.weight < parameters_.min_p; });
  KeepTopP();
  double left = UniformOf(random_()) * Total();
  for (const Candidate& one : candidates_) {
    left -= one.weight;
    if (left < 0) return one.token;
  }
  return candidates_.back().token;
}

}  // namespace nereid_backend
