#include "tune/choice.h"

#include <absl/algorithm/container.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace nereid {
namespace {

// Simulations and short measurements are not more precise.
constexpr double kAsGood = 0.03;

// The larger, the better.
double Score(const Judged& judged, const Goal& goal) {
  const Performance& performance = judged.best_known();
  if (!goal.latency && Keeps(judged, goal)) return performance.throughput;
  return 1e6 / std::max(performance.p99_us, 1e-3);
}

// The best of `left`, which all keep the goal, or none does. REQUIRES: `left` is not empty.
size_t BestOf(const std::vector<Judged>& all, const std::vector<size_t>& left, const Goal& goal) {
  double best = 0;
  for (const size_t i : left) best = std::max(best, Score(all[i], goal));
  const auto order = [&](size_t i) {
    const bool as_good = Score(all[i], goal) >= best * (1 - kAsGood);
    const Candidate& candidate = all[i].candidate;
    return std::make_tuple(!as_good, candidate.instances, candidate.max_queue_delay_us,
                           all[i].best_known().p99_us);
  };
  return *absl::c_min_element(left, [&](size_t a, size_t b) { return order(a) < order(b); });
}

}  // namespace

bool Keeps(const Judged& judged, const Goal& goal) {
  const double memory =
      judged.measured.has_value() ? judged.measured->memory_mib : judged.predicted_memory_mib;
  return (goal.p99_us == 0 || judged.best_known().p99_us <= goal.p99_us) &&
         (goal.memory_mib == 0 || memory <= goal.memory_mib) &&
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

std::vector<size_t> BestDiverse(const std::vector<Judged>& all, const Goal& goal, size_t count) {
  std::vector<size_t> chosen;
  std::vector<size_t> others;
  std::map<int32_t, size_t> by_instances;
  for (const size_t i : Best(all, goal, all.size())) {
    const bool few = by_instances[all[i].candidate.instances]++ < (count + 1) / 2;
    (few ? chosen : others).push_back(i);
  }
  chosen.insert(chosen.end(), others.begin(), others.end());
  chosen.resize(std::min(chosen.size(), count));
  return chosen;
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
