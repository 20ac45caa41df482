// SPDX-License-Identifier: Apache-2.0
// Which configuration is best for what the user wants. Plain values and pure functions.
#ifndef NEREID_APPS_WORKSHOP_TUNE_CHOICE_H_
#define NEREID_APPS_WORKSHOP_TUNE_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tune/candidate.h"
#include "tune/prediction.h"

namespace nereid {

enum class Objective {
  kThroughput,  // the largest
  kLatency,     // the lowest p99
  kMemory,      // the least, of the server's processes
};

struct Goal {
  Objective objective = Objective::kThroughput;
  double p99_us = 0;          // the p99 has to be at most this; 0: there is no limit
  double memory_mib = 0;      // likewise the server's memory
  double min_throughput = 0;  // requests per second at least

  // Whether it has to be known how much memory a server takes.
  bool needs_memory() const { return objective == Objective::kMemory || memory_mib > 0; }
};

struct Measurement {
  Performance performance;
  uint64_t errors = 0;
  double memory_mib = 0;
  int times = 1;  // how often it was measured; the other values are medians, errors are added
};

// Measurements of one configuration together. REQUIRES: there is one.
Measurement MedianOf(const std::vector<Measurement>& measured);

// A configuration, and what is known of it.
struct Judged {
  Configuration configuration;
  Performance predicted;
  double predicted_memory_mib = 0;  // 0: not known
  std::optional<Measurement> measured;
  bool today = false;  // it is what the model has now

  // What was measured, and where nothing was, what was predicted.
  const Performance& best_known() const {
    return measured.has_value() ? measured->performance : predicted;
  }
  double memory_mib() const {
    return measured.has_value() ? measured->memory_mib : predicted_memory_mib;
  }
};

// Whether it keeps the limits of the goal, and answers without errors.
bool Keeps(const Judged& judged, const Goal& goal);

// The numbers of the best `count`, best first. Among those that are as good as the best one, give
// or take 3 %, fewer instances are better, then today's, then fewer threads, a shorter delay, the
// lower p99. Those that do not keep the goal come last, those that miss its limits by the smallest
// factor first.
std::vector<size_t> Best(const std::vector<Judged>& all, const Goal& goal, size_t count);

// The numbers of those that other measurements might make the chosen one, at most three: the best
// one, others whose difference from it may be luck, and today's unless it is far behind; none if
// the best one stands alone. Once some were measured again (`times`): those of the others that
// challenge the best of these, and it; none if it is not challenged, which takes 3 % more than it,
// or a goal that only the challenger keeps.
std::vector<size_t> ToConfirm(const std::vector<Judged>& all, const Goal& goal);

// The number of the chosen one: the best of those that were measured again, if there are any and
// the best one is not challenged. REQUIRES: all are measured, and there is one.
size_t Chosen(const std::vector<Judged>& all, const Goal& goal);

// The numbers of those that no other one beats in both throughput and p99, by throughput.
std::vector<size_t> Frontier(const std::vector<Judged>& all);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_CHOICE_H_
