// SPDX-License-Identifier: Apache-2.0
#include "resample.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace speech_lab {
namespace {

// Zero crossings of the sinc on each side, and table entries per crossing.
constexpr int kCrossings = 24;
constexpr int kSteps = 512;
// The middle of the filter's transition band, as a fraction of half the lower rate. The band is 0.2
// wide.
constexpr double kEdge = 0.9;
// Kaiser's formula for 80 dB: 0.1102 (80 - 8.7).
constexpr double kBeta = 7.857;

// The modified Bessel function of order 0, by its power series.
double BesselI0(double x) {
  double term = 1;
  double sum = 1;
  for (int k = 1; term > 1e-12 * sum; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

// The windowed sinc(t) for t from 0 to kCrossings, with one more entry for the interpolation.
std::vector<float> MakeTable() {
  std::vector<float> table(kCrossings * kSteps + 2, 0.0f);
  table[0] = 1;
  for (int i = 1; i < kCrossings * kSteps; ++i) {
    const double t = static_cast<double>(i) / kSteps;
    const double part = t / kCrossings;
    const double window = BesselI0(kBeta * std::sqrt(1 - part * part)) / BesselI0(kBeta);
    const double angle = std::numbers::pi * t;
    table[static_cast<size_t>(i)] = static_cast<float>(window * std::sin(angle) / angle);
  }
  return table;
}

const std::vector<float>& Table() {
  static const auto* const table = new std::vector<float>(MakeTable());
  return *table;
}

}  // namespace

Resampler::Resampler(std::span<const float> samples, uint32_t rate, uint32_t wanted_rate)
    : samples_(samples),
      rate_(rate),
      wanted_rate_(wanted_rate),
      size_((samples.size() * wanted_rate_ + rate_ - 1) / rate_),
      cutoff_(kEdge * std::min(1.0, static_cast<double>(wanted_rate) / rate)),
      reach_(kCrossings / cutoff_),
      table_(Table()) {}

void Resampler::Read(size_t first, std::span<float> out) const {
  if (rate_ == wanted_rate_) {
    std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
    return;
  }
  for (size_t i = 0; i < out.size(); ++i) out[i] = At(first + i);
}

float Resampler::At(size_t index) const {
  // Whole samples and the fraction are computed separately, so that long recordings keep precision.
  const uint64_t scaled = index * rate_;
  const auto whole = static_cast<int64_t>(scaled / wanted_rate_);
  const double rest =
      static_cast<double>(scaled % wanted_rate_) / static_cast<double>(wanted_rate_);
  const int64_t last = static_cast<int64_t>(samples_.size()) - 1;
  const int64_t begin = std::max<int64_t>(0, whole - static_cast<int64_t>(reach_));
  const int64_t end = std::min<int64_t>(last, whole + static_cast<int64_t>(reach_) + 1);
  double sum = 0;
  for (int64_t k = begin; k <= end; ++k) {
    const double distance = std::abs(rest - static_cast<double>(k - whole));
    const double place = std::min(distance * cutoff_, double{kCrossings}) * kSteps;
    const auto entry = static_cast<size_t>(place);
    const double between = place - static_cast<double>(entry);
    const double weight = table_[entry] + between * (table_[entry + 1] - table_[entry]);
    sum += weight * samples_[static_cast<size_t>(k)];
  }
  return static_cast<float>(cutoff_ * sum);
}

}  // namespace speech_lab
