#include "apps/loadgen/arrivals.h"

#include <cmath>
#include <random>

namespace nereid::bench {
namespace {

using std::chrono::nanoseconds;

// The largest value that RateAt returns.
constexpr double kMostRate = 4;
constexpr double kBurstPeriod = 0.1;
constexpr double kBurstLength = 0.02;

nanoseconds Seconds(double seconds) { return nanoseconds(static_cast<int64_t>(seconds * 1e9)); }

// The rate at the time `at` in a run of `seconds`, as a multiple of the mean rate.
double RateAt(Arrivals arrivals, double at, double seconds) {
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

std::vector<nanoseconds> DueTimes(Arrivals arrivals, double rate, double seconds, uint64_t seed) {
  std::vector<nanoseconds> due;
  if (arrivals == Arrivals::kUniform) {
    const auto total = static_cast<uint64_t>(seconds * rate);
    due.reserve(total);
    for (uint64_t i = 0; i < total; ++i) due.push_back(Seconds(static_cast<double>(i) / rate));
    return due;
  }
  // A Poisson process at the highest rate, of which each arrival is kept with the probability that
  // gives the current rate. The standard library's distributions are not used, because they differ
  // between implementations; its engines do not.
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  double at = 0;
  while ((at -= std::log(uniform()) / (kMostRate * rate)) < seconds) {
    if (uniform() * kMostRate < RateAt(arrivals, at, seconds)) due.push_back(Seconds(at));
  }
  return due;
}

}  // namespace nereid::bench
