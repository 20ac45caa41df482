// SPDX-License-Identifier: Apache-2.0
#include "tune/choice.h"

#include <absl/algorithm/container.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace nereid {
namespace {

// Simulations and short measurements are not more precise.
constexpr double kAsGood = 0.03;
// Of one measurement, luck may be so much: other work of the machine comes and goes.
constexpr double kLuck = 0.15;
// Today's configuration has to be this much worse to be given up after one measurement: a change
// for the worse is the worst answer.
constexpr double kLuckOfToday = 0.4;
constexpr size_t kMostToConfirm = 3;

double Inverse(double value) { return 1e6 / std::max(value, 1e-3); }

// By which factor it is beyond the limits of the goal; 1: by none.
double Excess(const Judged& judged, const Goal& goal) {
  const Performance& performance = judged.best_known();
  double excess = 1;
  if (goal.p99_us > 0) excess *= std::max(performance.p99_us / goal.p99_us, 1.0);
  if (goal.memory_mib > 0) excess *= std::max(judged.memory_mib() / goal.memory_mib, 1.0);
  if (goal.min_throughput > 0) {
    excess *= std::max(goal.min_throughput / std::max(performance.throughput, 1e-3), 1.0);
  }
  return excess;
}

// The larger, the better.
double Score(const Judged& judged, const Goal& goal) {
  if (!Keeps(judged, goal)) return Inverse(Excess(judged, goal));
  switch (goal.objective) {
    case Objective::kLatency:
      return Inverse(judged.best_known().p99_us);
    case Objective::kMemory:
      return Inverse(judged.memory_mib());
    case Objective::kThroughput:
      break;
  }
  return judged.best_known().throughput;
}

// The best of `left`, which all keep the goal, or none does. REQUIRES: `left` is not empty.
size_t BestOf(const std::vector<Judged>& all, const std::vector<size_t>& left, const Goal& goal) {
  double best = 0;
  for (const size_t i : left) best = std::max(best, Score(all[i], goal));
  const auto order = [&](size_t i) {
    const bool as_good = Score(all[i], goal) >= best * (1 - kAsGood);
    const Configuration& configuration = all[i].configuration;
    return std::make_tuple(!as_good, InstancesOf(configuration), !all[i].today,
                           ThreadsOf(configuration), QueueDelayUsOf(configuration),
                           all[i].best_known().p99_us);
  };
  return *absl::c_min_element(left, [&](size_t a, size_t b) { return order(a) < order(b); });
}

// The best of those of `all` that `is_one_of` takes; none if it takes none.
template <typename IsOneOf>
std::vector<size_t> BestOfThose(const std::vector<Judged>& all, const Goal& goal, size_t count,
                                const IsOneOf& is_one_of) {
  std::vector<size_t> places;
  std::vector<Judged> those;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!is_one_of(all[i])) continue;
    places.push_back(i);
    those.push_back(all[i]);
  }
  std::vector<size_t> best;
  for (const size_t i : Best(those, goal, count)) best.push_back(places[i]);
  return best;
}

bool WasConfirmed(const Judged& judged) {
  return judged.measured.has_value() && judged.measured->times > 1;
}

// Whether one measurement says enough against the best of those that were measured again.
bool Challenges(const Judged& judged, const Judged& confirmed, const Goal& goal) {
  if (WasConfirmed(judged)) return false;
  if (Keeps(judged, goal) != Keeps(confirmed, goal)) return Keeps(judged, goal);
  return Score(judged, goal) > Score(confirmed, goal) * (1 + kAsGood);
}

// The best ones that challenge the best one that was measured again, and it.
std::vector<size_t> ChallengersAnd(size_t confirmed, const std::vector<Judged>& all,
                                   const Goal& goal) {
  std::vector<size_t> group = BestOfThose(all, goal, kMostToConfirm - 1, [&](const Judged& judged) {
    return Challenges(judged, all[confirmed], goal);
  });
  if (!group.empty()) group.push_back(confirmed);
  return group;
}

}  // namespace

bool Keeps(const Judged& judged, const Goal& goal) {
  return Excess(judged, goal) <= 1 &&
         (!judged.measured.has_value() || judged.measured->errors == 0);
}

std::vector<size_t> Best(const std::vector<Judged>& all, const Goal& goal, size_t count) {
  std::vector<size_t> left;
  std::vector<size_t> last;
  for (size_t i = 0; i < all.size(); ++i) (Keeps(all[i], goal) ? left : last).push_back(i);
  std::vector<size_t> best;
  while (best.size() < count && !(left.empty() && last.empty())) {
    std::vector<size_t>& from = left.empty() ? last : left;
    best.push_back(BestOf(all, from, goal));
    from.erase(absl::c_find(from, best.back()));
  }
  return best;
}

std::vector<size_t> ToConfirm(const std::vector<Judged>& all, const Goal& goal) {
  const std::vector<size_t> confirmed = BestOfThose(all, goal, 1, WasConfirmed);
  if (!confirmed.empty()) return ChallengersAnd(confirmed[0], all, goal);
  const std::vector<size_t> best = Best(all, goal, kMostToConfirm);
  if (best.empty()) return {};
  const auto within = [&](size_t i, double luck) {
    return Keeps(all[i], goal) == Keeps(all[best[0]], goal) &&
           Score(all[i], goal) >= Score(all[best[0]], goal) * (1 - luck);
  };
  std::vector<size_t> near;
  absl::c_copy_if(best, std::back_inserter(near), [&](size_t i) { return within(i, kLuck); });
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].today || absl::c_linear_search(near, i) || !within(i, kLuckOfToday)) continue;
    if (near.size() == kMostToConfirm) near.pop_back();
    near.push_back(i);
  }
  if (near.size() == 1) near.clear();
  return near;
}

size_t Chosen(const std::vector<Judged>& all, const Goal& goal) {
  const std::vector<size_t> confirmed = BestOfThose(all, goal, 1, WasConfirmed);
  if (confirmed.empty()) return Best(all, goal, 1)[0];
  const std::vector<size_t> group = ChallengersAnd(confirmed[0], all, goal);
  return group.empty() ? confirmed[0] : group[0];
}

Measurement MedianOf(const std::vector<Measurement>& measured) {
  const auto median = [&measured](const auto& value_of) {
    std::vector<double> values;
    for (const Measurement& one : measured) values.push_back(value_of(one));
    absl::c_sort(values);
    const size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  };
  const auto of_performance = [&median](double Performance::*member) {
    return median([member](const Measurement& one) { return one.performance.*member; });
  };
  Measurement together = measured.front();
  for (double Performance::*member : {&Performance::throughput, &Performance::p50_us,
                                      &Performance::p99_us, &Performance::mean_batch}) {
    together.performance.*member = of_performance(member);
  }
  together.memory_mib = median([](const Measurement& one) { return one.memory_mib; });
  together.errors = 0;
  together.times = 0;
  for (const Measurement& one : measured) {
    together.errors += one.errors;
    together.times += one.times;
  }
  return together;
}

std::vector<size_t> Frontier(const std::vector<Judged>& all) {
  std::vector<size_t> order(all.size());
  for (size_t i = 0; i < all.size(); ++i) order[i] = i;
  // From the largest throughput down: what has a lower p99 than everything before it stays.
  absl::c_stable_sort(order, [&](size_t a, size_t b) {
    const Performance& left = all[a].best_known();
    const Performance& right = all[b].best_known();
    return std::make_pair(-left.throughput, left.p99_us) <
           std::make_pair(-right.throughput, right.p99_us);
  });
  std::vector<size_t> frontier;
  for (const size_t i : order) {
    if (frontier.empty() || all[i].best_known().p99_us < all[frontier.back()].best_known().p99_us) {
      frontier.push_back(i);
    }
  }
  std::reverse(frontier.begin(), frontier.end());
  return frontier;
}

}  // namespace nereid
