// What finding the endpoint of a path costs.
#include <benchmark/benchmark.h>

#include "frontends/http/router.h"

namespace nereid {
namespace {

void BM_ParseRoute(benchmark::State& state, const char* path) {
  for (auto _ : state) {
    Route route = ParseRoute(path);
    benchmark::DoNotOptimize(route);
  }
}
BENCHMARK_CAPTURE(BM_ParseRoute, live, "/v2/health/live");
BENCHMARK_CAPTURE(BM_ParseRoute, infer, "/v2/models/identity_small/infer");
BENCHMARK_CAPTURE(BM_ParseRoute, infer_version, "/v2/models/identity_small/versions/1/infer");
BENCHMARK_CAPTURE(BM_ParseRoute, not_found, "/v2/models/identity_small/nonesuch");

}  // namespace
}  // namespace nereid
