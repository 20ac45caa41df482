// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/arrivals.h"

#include <algorithm>
#include <cmath>

namespace nereid::bench {
namespace {

using std::chrono::nanoseconds;

// The largest multiple.
constexpr double kMostRate = 4;
constexpr double kBurstPeriod = 0.1;
constexpr double kBurstLength = 0.02;

nanoseconds Seconds(double seconds) { return nanoseconds(static_cast<int64_t>(seconds * 1e9)); }

// The rate at the time `at` in a run of `seconds`, as a multiple of the mean rate.
double MultipleAt(Arrivals arrivals, double at, double seconds) {
  if (arrivals == Arrivals::kBursty) return std::fmod(at, kBurstPeriod) < kBurstLength ? 4 : 0.25;
  if (arrivals != Arrivals::kStep) return 1;
  return at < seconds / 3 ? 0.4 : at < seconds * 2 / 3 ? 1.5 : 1.1;
}

}  // namespace

std::optional<Arrivals> ParseArrivals(absl::string_view name) {
  if (name == "uniform") return Arrivals::kUniform;
  if (name == "poisson") return Arrivals::kPoisson;
  if (name == "bursty") return Arrivals::kBursty;
  if (name == "step") return Arrivals::kStep;
  return std::nullopt;
}

ArrivalTimes::ArrivalTimes(Arrivals arrivals, double rate, double seconds, uint64_t seed)
    : arrivals_(arrivals), rate_(rate), seconds_(seconds), end_(Seconds(seconds)), random_(seed) {}

ArrivalTimes::ArrivalTimes(std::vector<double> rates, double seconds, uint64_t seed)
    : arrivals_(Arrivals::kPoisson),
      rate_(*std::max_element(rates.begin(), rates.end()) / kMostRate),
      seconds_(seconds),
      end_(Seconds(seconds)),
      curve_(std::move(rates)),
      random_(seed) {}

ArrivalTimes::ArrivalTimes(std::vector<nanoseconds> times)
    : end_(times.empty() ? nanoseconds(0) : times.back()), listed_(true), list_(std::move(times)) {}

std::optional<nanoseconds> ArrivalTimes::Next() {
  if (listed_) {
    if (next_ == list_.size()) return std::nullopt;
    return list_[next_++];
  }
  if (arrivals_ != Arrivals::kUniform) return NextRandom();
  if (next_ >= static_cast<uint64_t>(seconds_ * rate_)) return std::nullopt;
  return Seconds(static_cast<double>(next_++) / rate_);
}

double ArrivalTimes::RateAt(double at) const {
  if (curve_.empty()) return MultipleAt(arrivals_, at, seconds_);
  const double place = at / seconds_ * static_cast<double>(curve_.size() - 1);
  const auto left = static_cast<size_t>(place);
  const size_t right = std::min(left + 1, curve_.size() - 1);
  return (curve_[left] + (place - std::floor(place)) * (curve_[right] - curve_[left])) / rate_;
}

// A Poisson process at the highest rate, of which each arrival is kept with the probability that
// gives the current rate. The standard library's distributions are not used, because they differ
// between implementations; its engines do not.
std::optional<nanoseconds> ArrivalTimes::NextRandom() {
  while ((at_ -= std::log(Uniform()) / (kMostRate * rate_)) < seconds_) {
    if (Uniform() * kMostRate < RateAt(at_)) return Seconds(at_);
  }
  return std::nullopt;
}

double ArrivalTimes::Uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }

}  // namespace nereid::bench
