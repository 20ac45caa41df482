// SPDX-License-Identifier: Apache-2.0
// Rows per second of a forest of 300 trees with 63 leaves each over 32 features, by one thread.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "backends/fil/forest.h"

namespace nereid_backend {
namespace {

constexpr int kTrees = 300;
constexpr int kLeaves = 63;
constexpr int kFeatures = 32;
constexpr size_t kRows = 4096;

// Trees as boosting makes them: each split divides a leaf that is there.
Forest MakeForest() {
  std::mt19937 random(7);
  std::normal_distribution<float> number;
  Result<Forest> forest = Forest::Create(kFeatures, 1);
  for (int tree = 0; tree < kTrees; ++tree) {
    std::vector<Split> splits;
    std::vector<double> leaves(kLeaves);
    for (double& leaf : leaves) leaf = number(random);
    // The children that lead to leaves.
    std::vector<int64_t*> ends;
    splits.reserve(kLeaves - 1);
    for (int64_t i = 0; i < kLeaves - 1; ++i) {
      splits.push_back({.threshold = number(random),
                        .feature = static_cast<int64_t>(random() % kFeatures),
                        .nan_goes_left = random() % 2 == 0});
      if (!ends.empty()) {
        const size_t end = random() % ends.size();
        *ends[end] = i;
        ends[end] = ends.back();
        ends.pop_back();
      }
      ends.push_back(&splits.back().left);
      ends.push_back(&splits.back().right);
    }
    for (size_t leaf = 0; leaf < ends.size(); ++leaf) *ends[leaf] = ~static_cast<int64_t>(leaf);
    if (!forest->AddTree(splits, leaves, 0).ok()) std::abort();
  }
  forest->transform.kind = TransformKind::kSigmoid;
  return *std::move(forest);
}

// Each call has other rows, as requests have.
void Score(benchmark::State& state, bool with_missing) {
  static const Forest forest = MakeForest();
  const auto count = static_cast<size_t>(state.range(0));
  std::mt19937 random(11);
  std::normal_distribution<float> number;
  std::vector<float> rows(kRows * kFeatures);
  for (float& x : rows) {
    const bool missing = with_missing && random() % 8 == 0;
    x = missing ? std::numeric_limits<float>::quiet_NaN() : number(random);
  }
  std::vector<float> scores(count);
  size_t first = 0;
  for (auto _ : state) {
    forest.Scores(rows.data() + first * kFeatures, count, scores.data());
    benchmark::DoNotOptimize(scores.data());
    benchmark::ClobberMemory();
    first = (first + count) % kRows;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK_CAPTURE(Score, complete, false)->Arg(1)->Arg(32)->Arg(256)->Arg(4096);
BENCHMARK_CAPTURE(Score, an_eighth_missing, true)->Arg(1)->Arg(32)->Arg(256)->Arg(4096);

}  // namespace
}  // namespace nereid_backend
