// SPDX-License-Identifier: Apache-2.0
// The cost of a request's way through the queue: from Enqueue to the thread of the instance that
// pulls, and back.
#include "scheduling/dynamic/dynamic_scheduler.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"
#include "scheduling/testing/puller.h"

namespace nereid {
namespace {

// A model with one instance that answers at once.
class Instance {
 public:
  explicit Instance(const ModelBuilder& builder)
      : model_(FakeModel::Make(builder)),
        scheduler_(&model_->config(), nullptr, Clock::Real()),
        thread_([this] { Run(); }) {}
  ~Instance() {
    scheduler_.Shutdown();
    thread_.join();
    scheduler_.DropStrategy();
  }

  std::unique_ptr<TestRequest> NewRequest() {
    auto request = std::make_unique<TestRequest>(model_);
    const bool batched = model_->config().max_batch_size > 0;
    request->Input("in", DataType::kInt8, batched ? Shape{1, 1} : Shape{1});
    return request;
  }
  bool Enqueue(TestRequest* request) {
    RequestPtr owned = request->Issue();
    if (scheduler_.Enqueue(&owned).ok()) return true;
    request->TakeBack(std::move(owned));
    return false;
  }

 private:
  void Run() {
    for (Batch batch = scheduler_.Pull(nullptr, std::nullopt); !batch.empty();
         batch = scheduler_.Pull(nullptr, std::nullopt)) {
      FinishBatch(std::move(batch));
    }
  }

  const std::shared_ptr<FakeModel> model_;
  DynamicScheduler scheduler_;
  std::thread thread_;
};

// Queues `range(0)` requests, then waits for all. With one request this measures the round trip
// between two sleeping threads; with many, the cost of a request that shares its wake-up. Making
// the requests is included.
void BM_HandOff(benchmark::State& state) {
  ModelBuilder builder("m");
  builder.Input("in", DataType::kInt8, {-1});
  if (state.range(1) > 0) builder.MaxBatch(static_cast<int32_t>(state.range(1))).Batching();
  Instance instance(builder);
  const auto count = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    std::vector<std::unique_ptr<TestRequest>> requests;
    for (size_t i = 0; i < count; ++i) {
      requests.push_back(instance.NewRequest());
      if (!instance.Enqueue(requests.back().get())) {
        requests.pop_back();
        state.SkipWithError("refused");
        break;
      }
    }
    for (const auto& request : requests) request->WaitDone();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_HandOff)
    ->ArgNames({"requests", "max_batch"})
    ->Args({1, 0})
    ->Args({64, 0})
    ->Args({64, 64})
    ->UseRealTime();

}  // namespace
}  // namespace nereid
