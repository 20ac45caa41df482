// SPDX-License-Identifier: Apache-2.0
// EnsembleFixture: an ensemble of fake models, whose requests the test answers. All tensors are
// INT32 unless the test says otherwise. Thread-compatible; FakeStep is thread-safe.
#ifndef NEREID_SCHEDULING_TESTING_ENSEMBLE_FIXTURE_H_
#define NEREID_SCHEDULING_TESTING_ENSEMBLE_FIXTURE_H_

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "infer/response.h"
#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"
#include "scheduling/ensemble/ensemble_scheduler.h"

namespace nereid {

using Ints = std::vector<int32_t>;

inline Ints ToInts(const void* base, size_t byte_size) {
  Ints ints(byte_size / sizeof(int32_t));
  if (!ints.empty()) std::memcpy(ints.data(), base, byte_size);
  return ints;
}

inline Ints InputOf(InferRequest* request, absl::string_view name) {
  const InferInput* const input = request->FindInput(name);
  if (input == nullptr) return {};
  Ints all;
  for (const InputBuffer& buffer : input->buffers()) {
    const Ints piece = ToInts(buffer.base, buffer.byte_size);
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

inline Ints OutputOf(const InferResponse& response, absl::string_view name) {
  for (const ResponseOutput& output : response.outputs()) {
    if (output.name() == name) return ToInts(output.buffer().base, output.buffer().byte_size);
  }
  return {};
}

// The model of a step. Keeps its requests, or answers them at once after ComputeAtOnce.
class FakeStep {
 public:
  using Outputs = std::map<std::string, Ints>;
  using Compute = std::function<Outputs(InferRequest*)>;

  explicit FakeStep(CompiledModel config) : model_(std::make_shared<FakeModel>(std::move(config))) {
    model_->on_enqueue = [this](RequestPtr* request) { return Enqueue(request); };
    model_->on_cancel = [this](InferRequest* request) {
      if (drop_cancelled_) DropCancelled(request);
    };
  }

  const std::shared_ptr<FakeModel>& model() const { return model_; }
  // From now on, answers every request at once.
  void ComputeAtOnce(Compute compute) { compute_ = std::move(compute); }
  // From now on, refuses requests.
  void Refuse(absl::Status error) { refuse_ = std::move(error); }
  // From now on, answers a kept request when it is cancelled, as a queue does.
  void DropCancelledRequests() { drop_cancelled_ = true; }

  size_t held() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return held_.size();
  }
  int seen() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return seen_;
  }
  // REQUIRES: held() > index.
  RequestPtr Take(size_t index = 0) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    RequestPtr request = std::move(held_[index]);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
    return request;
  }

  // Sends one response with these outputs. Their shape is [size], with a batch dimension if the
  // request has one.
  static void Send(InferRequest* request, const Outputs& outputs, uint32_t flags,
                   std::vector<Parameter> parameters = {}) {
    const std::shared_ptr<ResponseStream> stream = request->stream();
    std::unique_ptr<InferResponse> response = stream->NewResponse();
    for (const auto& [name, ints] : outputs) {
      if (!request->WantsOutput(name)) continue;
      Shape shape;
      if (request->batch_size() > 0) shape.push_back(request->batch_size());
      const auto rows = static_cast<int64_t>(request->units_in_batch());
      shape.push_back(static_cast<int64_t>(ints.size()) / rows);
      absl::StatusOr<ResponseOutput*> output = response->AddOutput(name, DataType::kInt32, shape);
      ASSERT_TRUE(output.ok()) << output.status();
      ASSERT_TRUE((*output)->Allocate(ints.size() * sizeof(int32_t), MemoryPlace{}).ok());
      if (!ints.empty()) {
        std::memcpy((*output)->buffer().base, ints.data(), ints.size() * sizeof(int32_t));
      }
    }
    for (Parameter& parameter : parameters) response->AddParameter(std::move(parameter));
    ASSERT_TRUE(stream->Send(std::move(response), flags).ok());
  }
  static void Finish(RequestPtr request, const Outputs& outputs) {
    Execute(request.get());
    Send(request.get(), outputs, kResponseCompleteFinal);
  }
  static void FinishWithError(RequestPtr request, const absl::Status& error) {
    Execute(request.get());
    request->RespondError(error, FailureReason::kBackend);
  }
  // Sends only the final flag, and releases the request.
  static void FinishEmpty(RequestPtr request) {
    Execute(request.get());
    EXPECT_TRUE(request->stream()->Send(nullptr, kResponseCompleteFinal).ok());
  }

 private:
  static void Execute(InferRequest* request) {
    request->lifecycle().MoveTo(RequestState::kExecuting, "").IgnoreError();
    request->model()->statistics().AddPending(-1);
  }

  absl::Status Enqueue(RequestPtr* request) ABSL_LOCKS_EXCLUDED(mu_) {
    {
      MutexLock lock(&mu_);
      ++seen_;
      if (!refuse_.ok()) return refuse_;
      if (!compute_) {
        held_.push_back(std::move(*request));
        return absl::OkStatus();
      }
    }
    const Outputs outputs = compute_(request->get());
    Finish(std::move(*request), outputs);
    return absl::OkStatus();
  }

  void DropCancelled(InferRequest* request) ABSL_LOCKS_EXCLUDED(mu_) {
    RequestPtr dropped;
    {
      MutexLock lock(&mu_);
      for (auto it = held_.begin(); it != held_.end(); ++it) {
        if (it->get() != request) continue;
        dropped = std::move(*it);
        held_.erase(it);
        break;
      }
    }
    if (dropped == nullptr) return;
    Execute(dropped.get());
    dropped->RespondError(absl::CancelledError(""), FailureReason::kCanceled);
  }

  const std::shared_ptr<FakeModel> model_;
  Compute compute_;  // this and the next two are set before the first request
  absl::Status refuse_;
  bool drop_cancelled_ = false;
  mutable Mutex mu_;
  std::deque<RequestPtr> held_ ABSL_GUARDED_BY(mu_);
  int seen_ ABSL_GUARDED_BY(mu_) = 0;
};

class EnsembleFixture : public ::testing::Test, public ModelResolver {
 protected:
  EnsembleFixture() : builder_("e") {}

  void TearDown() override {
    requests_.clear();
    for (const auto& [name, step] : steps_) {
      EXPECT_EQ(step->model()->lifetime().inside(), 0) << "of " << name;
      EXPECT_EQ(step->model()->statistics().Snapshot().pending, 0) << "of " << name;
    }
    if (ensemble_ != nullptr) {
      EXPECT_EQ(ensemble_->lifetime().inside(), 0);
      EXPECT_EQ(ensemble_->statistics().Snapshot().pending, 0);
    }
  }

  absl::StatusOr<std::shared_ptr<ServingModel>> Resolve(const EnsembleStep& step,
                                                        const InferRequest*) override {
    const auto it = steps_.find(step.model_name);
    if (it == steps_.end()) return absl::NotFoundError("no such model");
    return std::shared_ptr<ServingModel>(it->second->model());
  }
  Found LookUp(const EnsembleStep& step) override { return {}; }

  // A model with the given inputs and outputs, each of the shape [-1].
  FakeStep& Model(const std::string& name, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs, bool decoupled = false,
                  int32_t max_batch = 0) {
    ModelBuilder builder(name);
    builder.MaxBatch(max_batch);
    for (const std::string& input : inputs) builder.Input(input, DataType::kInt32, {-1});
    for (const std::string& output : outputs) builder.Output(output, DataType::kInt32, {-1});
    CompiledModel config = builder.Build();
    config.decoupled = decoupled;
    steps_[name] = std::make_unique<FakeStep>(std::move(config));
    return *steps_[name];
  }
  FakeStep& step(const std::string& name) { return *steps_.at(name); }

  // Adds a step of the model `model`. Mappings have the form {"I", "tensor"}. REQUIRES: the model
  // was made before Build.
  void Step(const std::string& model, std::vector<TensorMapping> inputs,
            std::vector<TensorMapping> outputs) {
    spec_.steps.push_back({model, -1, "", std::move(inputs), std::move(outputs)});
  }
  // Adds a step with a model of its own, which has the input I and the output O.
  FakeStep& Step(const std::string& model, const std::string& from, const std::string& to,
                 bool decoupled = false) {
    FakeStep& made = Model(model, {"I"}, {"O"}, decoupled);
    Step(model, {{"I", from}}, {{"O", to}});
    return made;
  }
  void Input(const std::string& name) { builder_.Input(name, DataType::kInt32, {-1}); }
  void Output(const std::string& name) { builder_.Output(name, DataType::kInt32, {-1}); }

  // Makes the ensemble.
  void Build(std::string name = "e") {
    CompiledModel config = builder_.Build();
    config.name = std::move(name);
    config.ensemble = spec_;
    config.instances.clear();
    std::vector<bool> decoupled;
    for (const EnsembleStep& s : spec_.steps) {
      decoupled.push_back(steps_.at(s.model_name)->model()->config().decoupled);
    }
    absl::StatusOr<StepGraph> graph = StepGraph::Make(config, decoupled);
    ASSERT_TRUE(graph.ok()) << graph.status();
    config.decoupled = graph->full_plan().decoupled;
    ensemble_ = std::make_shared<FakeModel>(std::move(config));
    ensemble_->Use(devices_);
    allocator_ = std::make_unique<StepAllocator>(nullptr, devices_);
    scheduler_ = std::make_unique<EnsembleScheduler>(&ensemble_->config(), *std::move(graph), this,
                                                     allocator_.get(), clock_);
    ensemble_->on_enqueue = [this](RequestPtr* request) { return scheduler_->Enqueue(request); };
    ensemble_->on_cancel = [this](InferRequest* request) { scheduler_->OnCancel(request); };
  }

  TestRequest& NewRequest() {
    requests_.push_back(std::make_unique<TestRequest>(ensemble_));
    return *requests_.back();
  }
  static void AddInts(TestRequest* request, const std::string& name, const Ints& ints) {
    request->Input(
        name, DataType::kInt32, {static_cast<int64_t>(ints.size())},
        std::string(reinterpret_cast<const char*>(ints.data()), ints.size() * sizeof(int32_t)));
  }
  absl::Status TryStart(TestRequest* request) {
    RequestPtr owned = request->Issue();
    const absl::Status status = scheduler_->Enqueue(&owned);
    if (!status.ok()) request->TakeBack(std::move(owned));
    return status;
  }
  // Starts a request with inputs {name, values}.
  TestRequest& Start(const std::map<std::string, Ints>& inputs,
                     const std::vector<std::string>& outputs = {}) {
    TestRequest& request = NewRequest();
    for (const auto& [name, ints] : inputs) AddInts(&request, name, ints);
    for (const std::string& name : outputs) {
      EXPECT_TRUE(request->AddRequestedOutput(name).ok());
    }
    const absl::Status started = TryStart(&request);
    EXPECT_TRUE(started.ok()) << started;
    return request;
  }

  // ---- Some ensembles, and what their models compute.
  // i -> "first" -> t -> "second" -> o
  void Chain() {
    Input("i");
    Output("o");
    Step("first", "i", "t");
    Step("second", "t", "o");
    Build();
  }
  // i -> "pre" -> t -> { "left" -> l, "right" -> r }
  void Fork() {
    Input("i");
    Output("l");
    Output("r");
    Step("pre", "i", "t");
    Step("left", "t", "l");
    Step("right", "t", "r");
    Build();
  }
  // i -> "many", decoupled -> t -> "each" -> o; "each" reads i as well.
  void Stream() {
    Input("i");
    Output("o");
    Step("many", "i", "t", /*decoupled=*/true);
    Model("each", {"A", "B"}, {"O"});
    Step("each", {{"A", "t"}, {"B", "i"}}, {{"O", "o"}});
    Build();
  }
  static FakeStep::Outputs Sum(InferRequest* request) {
    Ints sum = InputOf(request, "A");
    const Ints other = InputOf(request, "B");
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
    return {{"O", sum}};
  }
  static FakeStep::Outputs Increment(InferRequest* request) {
    Ints ints = InputOf(request, "I");
    for (int32_t& i : ints) ++i;
    return {{"O", ints}};
  }

  Clock* clock_ = Clock::Real();
  // The GPUs of the ensemble and its tensors, before Build.
  const Devices* devices_ = Devices::None();
  std::unique_ptr<StepAllocator> allocator_;
  ModelBuilder builder_;
  EnsembleSpec spec_;
  std::map<std::string, std::unique_ptr<FakeStep>> steps_;
  std::shared_ptr<FakeModel> ensemble_;
  std::unique_ptr<EnsembleScheduler> scheduler_;
  std::deque<std::unique_ptr<TestRequest>> requests_;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_TESTING_ENSEMBLE_FIXTURE_H_
