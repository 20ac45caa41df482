// SPDX-License-Identifier: Apache-2.0
// The cost of the policy per arrival, for queues of different lengths.
#include "scheduling/dynamic/batch_policy.h"

#include <benchmark/benchmark.h>

#include "infer/testing/fake_model.h"

namespace nereid {
namespace {

class UniformQueue final : public QueueView {
 public:
  explicit UniformQueue(size_t size) : size_(size) {}
  size_t size() const override { return size_; }
  uint32_t units(size_t) const override { return 1; }
  TimePoint queued_at(size_t) const override { return TimePoint(); }
  bool Compatible(size_t, size_t) const override { return true; }
  void Grow() { ++size_; }

 private:
  size_t size_;
};

BatchPolicy PolicyWithDelay() {
  ModelBuilder builder;
  builder.MaxBatch(1 << 30).Batching({}, std::chrono::seconds(1));
  return BatchPolicy(builder.Build());
}

// One more request arrives, and the batch goes on waiting.
void BM_DecideOnArrival(benchmark::State& state) {
  const BatchPolicy policy = PolicyWithDelay();
  UniformQueue queue(static_cast<size_t>(state.range(0)));
  BatchCursor cursor;
  policy.Decide(queue, TimePoint(), &cursor);
  for (auto _ : state) {
    queue.Grow();
    BatchDecision decision = policy.Decide(queue, TimePoint(), &cursor);
    benchmark::DoNotOptimize(decision);
  }
}
BENCHMARK(BM_DecideOnArrival)->Arg(1)->Arg(10'000);

// A full batch is decided in one call, with a new cursor.
void BM_DecideBatch(benchmark::State& state) {
  ModelBuilder builder;
  builder.MaxBatch(static_cast<int32_t>(state.range(0))).Batching();
  const BatchPolicy policy(builder.Build());
  const UniformQueue queue(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    BatchCursor cursor;
    BatchDecision decision = policy.Decide(queue, TimePoint(), &cursor);
    benchmark::DoNotOptimize(decision);
  }
}
BENCHMARK(BM_DecideBatch)->Arg(1)->Arg(8)->Arg(64);

}  // namespace
}  // namespace nereid
