// SPDX-License-Identifier: Apache-2.0
// The times at which the requests of an open loop fall due.
#ifndef NEREID_APPS_LOADGEN_ARRIVALS_H_
#define NEREID_APPS_LOADGEN_ARRIVALS_H_

#include <absl/strings/string_view.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace nereid::bench {

// Uniform: equal gaps. The others are Poisson processes: at a constant rate; in bursts, where a
// fifth of each tenth of a second has 16 times the rate of the rest; in steps, with 0.4, 1.5 and
// 1.1 times the rate for a third of the time each. The mean rate is about the same for all.
enum class Arrivals { kUniform, kPoisson, kBursty, kStep };

// None for a name other than "uniform", "poisson", "bursty", "step".
std::optional<Arrivals> ParseArrivals(absl::string_view name);

// The times of one run, one after the other, so that a long run needs no memory.
// Thread-compatible.
class ArrivalTimes {
 public:
  // At `rate` per second for `seconds`. The same seed gives the same times, on every machine.
  ArrivalTimes(Arrivals arrivals, double rate, double seconds, uint64_t seed);
  // A Poisson process whose rates follow straight lines between these, which lie equally far from
  // each other over `seconds`; a single one is constant. REQUIRES: there is one, none is negative,
  // and one is positive.
  ArrivalTimes(std::vector<double> rates, double seconds, uint64_t seed);
  // Those of a list, ascending.
  explicit ArrivalTimes(std::vector<std::chrono::nanoseconds> times);

  // The next time from the start of the run; none after the last.
  std::optional<std::chrono::nanoseconds> Next();
  // No time is later.
  std::chrono::nanoseconds end() const { return end_; }

 private:
  std::optional<std::chrono::nanoseconds> NextRandom();
  double Uniform();  // in (0, 1)
  // The rate at `at`, as a multiple of rate_.
  double RateAt(double at) const;

  Arrivals arrivals_ = Arrivals::kUniform;
  double rate_ = 0;
  double seconds_ = 0;
  std::chrono::nanoseconds end_{0};
  std::vector<double> curve_;  // rates; empty: they are those of `arrivals_`
  std::mt19937_64 random_;
  double at_ = 0;    // seconds: the last random time
  size_t next_ = 0;  // of uniform times and of the list
  bool listed_ = false;
  std::vector<std::chrono::nanoseconds> list_;
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_ARRIVALS_H_
