// SPDX-License-Identifier: Apache-2.0
#include "tune/search.h"

#include <absl/algorithm/container.h>

#include <utility>

#include "base/status_macros.h"

namespace nereid {
namespace {

// Improvements of the last models may make others of the first ones worthwhile, but seldom twice.
constexpr int kMostRounds = 3;

using CandidateLists = std::vector<std::vector<Candidate>>;

// At most `most` + 1.
size_t Combinations(const CandidateLists& candidates, size_t most) {
  size_t count = 1;
  for (const std::vector<Candidate>& of_model : candidates) {
    count *= of_model.size();
    if (count > most) return most + 1;
  }
  return count;
}

absl::StatusOr<std::vector<Judged>> JudgeAll(const CandidateLists& candidates, const Judge& judge) {
  std::vector<Configuration> all = {{}};
  for (const std::vector<Candidate>& of_model : candidates) {
    std::vector<Configuration> longer;
    for (const Configuration& configuration : all) {
      for (const Candidate& candidate : of_model) {
        longer.push_back(configuration);
        longer.back().push_back(candidate);
      }
    }
    all = std::move(longer);
  }
  std::vector<Judged> judged;
  for (const Configuration& configuration : all) {
    ASSIGN_OR_RETURN(judged.emplace_back(), judge(configuration));
  }
  return judged;
}

// What is improved at a time.
enum class Aspect { kInstances, kBatches };

bool DiffersOnlyIn(Aspect aspect, const Candidate& a, Candidate b) {
  if (aspect == Aspect::kBatches) return a.instances == b.instances && a.engine == b.engine;
  b.instances = a.instances;
  return a == b;
}

// The most instances, and batches without delay where there are batches.
Candidate Richest(const std::vector<Candidate>& candidates) {
  const auto rank = [](const Candidate& candidate) {
    return std::make_tuple(-candidate.instances, !candidate.batching, candidate.max_queue_delay_us);
  };
  return *absl::c_min_element(
      candidates, [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
}

class CoordinateSearch {
 public:
  CoordinateSearch(const CandidateLists& candidates, const Goal& goal, const Judge& judge)
      : candidates_(candidates), goal_(goal), judge_(judge) {}

  absl::Status From(Configuration configuration) {
    ASSIGN_OR_RETURN(size_t best, Place(configuration));
    for (int round = 0; round < kMostRounds; ++round) {
      const size_t before = best;
      for (size_t model = 0; model < candidates_.size(); ++model) {
        for (const Aspect aspect : {Aspect::kInstances, Aspect::kBatches}) {
          ASSIGN_OR_RETURN(best, Improved(best, model, aspect));
        }
      }
      if (best == before) break;
    }
    return absl::OkStatus();
  }
  std::vector<Judged> Take() { return std::move(all_); }

 private:
  // The place of a configuration in all_, where it is put if it is new.
  absl::StatusOr<size_t> Place(const Configuration& configuration) {
    const auto found = absl::c_find_if(all_, [&configuration](const Judged& judged) {
      return judged.configuration == configuration;
    });
    if (found != all_.end()) return static_cast<size_t>(found - all_.begin());
    ASSIGN_OR_RETURN(all_.emplace_back(), judge_(configuration));
    return all_.size() - 1;
  }

  absl::StatusOr<size_t> Improved(size_t from, size_t model, Aspect aspect) {
    const Configuration start = all_[from].configuration;
    std::vector<size_t> places;
    std::vector<Judged> judged;
    for (const Candidate& candidate : candidates_[model]) {
      if (!DiffersOnlyIn(aspect, start[model], candidate)) continue;
      Configuration configuration = start;
      configuration[model] = candidate;
      ASSIGN_OR_RETURN(const size_t place, Place(configuration));
      places.push_back(place);
      judged.push_back(all_[place]);
    }
    return places[Best(judged, goal_, 1)[0]];
  }

  const CandidateLists& candidates_;
  const Goal& goal_;
  const Judge& judge_;
  std::vector<Judged> all_;
};

}  // namespace

absl::StatusOr<std::vector<Judged>> JudgeConfigurations(const CandidateLists& candidates,
                                                        const Goal& goal, size_t most,
                                                        const Judge& judge) {
  if (candidates.size() == 1 || Combinations(candidates, most) <= most) {
    return JudgeAll(candidates, judge);
  }
  Configuration today;
  Configuration richest;
  for (const std::vector<Candidate>& of_model : candidates) {
    today.push_back(of_model[0]);
    richest.push_back(Richest(of_model));
  }
  CoordinateSearch search(candidates, goal, judge);
  RETURN_IF_ERROR(search.From(today));
  RETURN_IF_ERROR(search.From(richest));
  return search.Take();
}

}  // namespace nereid
