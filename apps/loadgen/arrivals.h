// The times at which the requests of an open loop fall due. Pure functions.
#ifndef NEREID_APPS_LOADGEN_ARRIVALS_H_
#define NEREID_APPS_LOADGEN_ARRIVALS_H_

#include <absl/strings/string_view.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace nereid::bench {

// Uniform: equal gaps. The others are Poisson processes: at a constant rate; in bursts, where a
// fifth of each tenth of a second has 16 times the rate of the rest; in steps, with 0.4, 1.5 and
// 1.1 times the rate for a third of the time each. The mean rate is about the same for all.
enum class Arrivals { kUniform, kPoisson, kBursty, kStep };

// None for a name other than "uniform", "poisson", "bursty", "step".
std::optional<Arrivals> ParseArrivals(absl::string_view name);

// Times from the start of the run, ascending, at `rate` per second for `seconds`. The same seed
// gives the same times, on every machine.
std::vector<std::chrono::nanoseconds> DueTimes(Arrivals arrivals, double rate, double seconds,
                                               uint64_t seed);

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_ARRIVALS_H_
