// SPDX-License-Identifier: Apache-2.0
// The cost of an ensemble in addition to its models: requests run through fake models that answer
// at once, all on one thread. `per_step` is the processor time per step, including the model's part
// (request, answer, allocation of an output) and the step's share of the ensemble's own request.
// `overhead_per_step` is `per_step` less the model's part, which is the time of `direct`.
#include <benchmark/benchmark.h>

#include <time.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "infer/infer_request.h"
#include "infer/response.h"
#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"
#include "scheduling/ensemble/ensemble_scheduler.h"

namespace nereid {
namespace {

// Answers every request at once with one output of 16 bytes.
std::shared_ptr<FakeModel> EchoModel() {
  ModelBuilder builder("m");
  builder.Input("I", DataType::kInt8, {16}).Output("O", DataType::kInt8, {16});
  auto model = FakeModel::Make(builder);
  model->on_enqueue = [](RequestPtr* request) {
    RequestPtr owned = std::move(*request);
    owned->lifecycle().MoveTo(RequestState::kExecuting, "").IgnoreError();
    owned->model()->statistics().AddPending(-1);
    std::unique_ptr<InferResponse> response = owned->stream()->NewResponse();
    ResponseOutput* const output = *response->AddOutput("O", DataType::kInt8, {16});
    output->Allocate(16, MemoryPlace{}).IgnoreError();
    owned->stream()->Send(std::move(response), kResponseCompleteFinal).IgnoreError();
    return absl::OkStatus();
  };
  return model;
}

class OneModel final : public ModelResolver {
 public:
  explicit OneModel(std::shared_ptr<ServingModel> model) : model_(std::move(model)) {}
  absl::StatusOr<std::shared_ptr<ServingModel>> Resolve(const EnsembleStep&,
                                                        const InferRequest*) override {
    return model_;
  }
  Found LookUp(const EnsembleStep&) override { return {}; }

 private:
  const std::shared_ptr<ServingModel> model_;
};

// Processor time of this thread, without that of other threads.
double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// With `chain` each step reads the output of the step before it; otherwise all steps read the input
// of the ensemble.
CompiledModel Ensemble(int steps, bool chain) {
  CompiledModel config = ModelBuilder("e").Input("t0", DataType::kInt8, {16}).Build();
  for (int i = 0; i < steps; ++i) {
    EnsembleStep step;
    step.model_name = "m";
    step.inputs = {{"I", "t" + std::to_string(chain ? i : 0)}};
    step.outputs = {{"O", "t" + std::to_string(i + 1)}};
    config.ensemble.steps.push_back(std::move(step));
    if (chain && i + 1 < steps) continue;
    OutputSpec output;
    output.name = "t" + std::to_string(i + 1);
    output.data_type = DataType::kInt8;
    output.dims = {16};
    config.outputs.push_back(std::move(output));
  }
  return config;
}

// A client that issues the same request again and again.
class Client {
 public:
  explicit Client(const std::shared_ptr<ServingModel>& model, const char* input)
      : request_(model, -1) {
    InferInput* const tensor = *request_.AddInput(input, DataType::kInt8, {16});
    tensor->AppendBuffer({bytes_, sizeof(bytes_), MemoryPlace{}});
    request_.set_release_target(
        {[](InferRequest*, uint32_t, const ReleaseTarget&) {}, nullptr, nullptr});
    request_.set_response_target(
        {[](InferResponse* response, uint32_t, const ResponseTarget&) { delete response; }, nullptr,
         nullptr, &allocator_, nullptr});
  }
  bool Run() {
    request_.lifecycle().MoveTo(RequestState::kInitialized, "").IgnoreError();
    ModelPass pass = ModelPass::Enter(request_.model());
    if (!pass) return false;
    return IssueRequest(std::move(pass), &request_, ToNanos(Clock::Real()->Now())).ok();
  }

 private:
  const char bytes_[16] = {};
  const HeapOutputAllocator allocator_{nullptr};
  InferRequest request_;
};

void BM_Direct(benchmark::State& state) {
  Client client(EchoModel(), "I");
  for (auto _ : state) {
    if (!client.Run()) state.SkipWithError("refused");
  }
}
BENCHMARK(BM_Direct)->Name("direct");

// Seconds for a request that goes directly to the model: the minimum of several rounds.
double DirectSeconds() {
  static const double seconds = [] {
    constexpr int kRequests = 20000;
    Client client(EchoModel(), "I");
    double least = 1;
    for (int round = 0; round < 10; ++round) {
      const double begun = CpuSeconds();
      for (int i = 0; i < kRequests; ++i) benchmark::DoNotOptimize(client.Run());
      least = std::min(least, (CpuSeconds() - begun) / kRequests);
    }
    return least;
  }();
  return seconds;
}

void RunSteps(benchmark::State& state, bool chain) {
  const double direct = DirectSeconds();
  const int steps = static_cast<int>(state.range(0));
  OneModel resolver(EchoModel());
  auto ensemble = std::make_shared<FakeModel>(Ensemble(steps, chain));
  const StepAllocator allocator(nullptr, Devices::None());
  EnsembleScheduler scheduler(
      &ensemble->config(),
      *StepGraph::Make(ensemble->config(), std::vector<bool>(static_cast<size_t>(steps))),
      &resolver, &allocator, Clock::Real());
  ensemble->on_enqueue = [&](RequestPtr* request) { return scheduler.Enqueue(request); };
  Client client(ensemble, "t0");
  const double begun = CpuSeconds();
  for (auto _ : state) {
    if (!client.Run()) state.SkipWithError("refused");
  }
  const double per_step = (CpuSeconds() - begun) /
                          (static_cast<double>(state.iterations()) * static_cast<double>(steps));
  state.counters["per_step"] = per_step;
  state.counters["overhead_per_step"] = per_step - direct;
}
void BM_Chain(benchmark::State& state) { RunSteps(state, true); }
void BM_Fan(benchmark::State& state) { RunSteps(state, false); }
BENCHMARK(BM_Chain)->Name("chain")->Arg(1)->Arg(2)->Arg(4)->Arg(16);
BENCHMARK(BM_Fan)->Name("fan")->Arg(2)->Arg(16);

}  // namespace
}  // namespace nereid
