// SPDX-License-Identifier: Apache-2.0
// What recording a request costs: the counters alone, with the histograms that are on by default,
// and with summaries.
#include "observe/stats/model_statistics.h"

#include <benchmark/benchmark.h>

namespace nereid {
namespace {

void BM_RecordSuccess(benchmark::State& state) {
  LatencyOptions options;
  options.histograms = state.range(0) >= 1;
  options.summaries = state.range(0) >= 2;
  ModelStatistics statistics(2, 8, options);
  uint64_t now = 1'000'000'000;
  for (auto _ : state) {
    now += 50'000;
    const SuccessTimes times = {now - 900'000,
                                now - 890'000,
                                now - 600'000,
                                now - 580'000,
                                now - 30'000,
                                now - 10'000,
                                now};
    statistics.RecordSuccess(1, 1, times);
  }
  if (statistics.Snapshot().success.count != static_cast<uint64_t>(state.iterations())) {
    state.SkipWithError("requests are missing");
  }
}
BENCHMARK(BM_RecordSuccess)->ArgName("more")->Arg(0)->Arg(1)->Arg(2);

}  // namespace
}  // namespace nereid
