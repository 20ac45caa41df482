// SPDX-License-Identifier: Apache-2.0
// Measures the cost of gathering the inputs of a batch into one buffer, as a backend does before it
// computes: reading the pieces of each request, and one copy.
#include "backends/sdk/tensor.h"

#include <benchmark/benchmark.h>

#include <deque>
#include <string>
#include <vector>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

// `count` requests with one input of `bytes` bytes each, which is split into `buffers` buffers.
std::deque<TRITONBACKEND_Request> MakeRequests(int64_t count, int64_t bytes, int64_t buffers) {
  std::deque<TRITONBACKEND_Request> requests(static_cast<size_t>(count));
  for (TRITONBACKEND_Request& request : requests) {
    const auto part = static_cast<size_t>(bytes / buffers);
    request.inputs.push_back(
        testing::MakeInput("x", TRITONSERVER_TYPE_FP32, {1, bytes / 4}, std::string(part, 'x')));
    request.inputs[0].buffers.resize(static_cast<size_t>(buffers), std::string(part, 'x'));
  }
  return requests;
}

// Arguments: requests, bytes of each, buffers of each.
void BM_GatherBatch(benchmark::State& state) {
  std::deque<TRITONBACKEND_Request> requests =
      MakeRequests(state.range(0), state.range(1), state.range(2));
  Scratch scratch;
  for (auto _ : state) {
    std::vector<Piece> pieces;
    for (TRITONBACKEND_Request& request : requests) {
      const Result<InputView> input = InputView::Find(&request, "x");
      if (!input.ok() || !AppendPieces(*input, &pieces).ok()) {
        state.SkipWithError("the input is not there");
        return;
      }
    }
    benchmark::DoNotOptimize(Gather(pieces, sizeof(float), &scratch));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * state.range(0) * state.range(1));
}
BENCHMARK(BM_GatherBatch)
    ->ArgNames({"requests", "bytes", "buffers"})
    ->Args({1, 256, 1})  // not copied
    ->Args({4, 256, 1})
    ->Args({16, 256, 1})
    ->Args({64, 256, 1})
    ->Args({16, 64 << 10, 1})
    ->Args({1, 4 << 20, 1})  // not copied
    ->Args({1, 4 << 20, 64})
    ->Args({4, 4 << 20, 1})
    ->Args({4, 4 << 20, 64});

}  // namespace
}  // namespace nereid_backend
