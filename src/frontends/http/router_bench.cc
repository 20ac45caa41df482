// SPDX-License-Identifier: Apache-2.0
// Measures the cost of finding a path's route and its model's name.
#include <benchmark/benchmark.h>

#include <optional>
#include <string>

#include "frontends/http/router.h"
#include "frontends/http/routes.h"

namespace nereid {
namespace {

void BM_Match(benchmark::State& state, const char* path) {
  const Router router = MakeRouter(AllRoutes());
  for (auto _ : state) {
    const std::optional<RouteMatch> match = router.Match(path);
    benchmark::DoNotOptimize(match);
    if (match.has_value() && !match->names.model.empty()) {
      const std::string model = match->names.model.Decoded();
      benchmark::DoNotOptimize(model);
    }
  }
}
BENCHMARK_CAPTURE(BM_Match, live, "/v2/health/live");
BENCHMARK_CAPTURE(BM_Match, infer, "/v2/models/identity_small/infer");
BENCHMARK_CAPTURE(BM_Match, infer_version, "/v2/models/identity_small/versions/1/infer");
BENCHMARK_CAPTURE(BM_Match, not_found, "/v2/models/identity_small/nonesuch");

}  // namespace
}  // namespace nereid
