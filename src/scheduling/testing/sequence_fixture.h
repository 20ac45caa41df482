// SPDX-License-Identifier: Apache-2.0
// SequenceFixture: a SequenceScheduler on a fake clock, its model, requests and instances, whose
// batches a test takes and finishes step by step. Thread-compatible.
#ifndef NEREID_SCHEDULING_TESTING_SEQUENCE_FIXTURE_H_
#define NEREID_SCHEDULING_TESTING_SEQUENCE_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"
#include "scheduling/sequence/sequence_scheduler.h"
#include "scheduling/testing/puller.h"

namespace nereid {

inline constexpr uint32_t kStart = kRequestFlagSequenceStart;
inline constexpr uint32_t kEnd = kRequestFlagSequenceEnd;

inline SequenceControl Int32Control(std::string input, SequenceControl::Kind kind) {
  SequenceControl control;
  control.input = std::move(input);
  control.kind = kind;
  control.data_type = DataType::kInt32;
  control.false_value = std::string("\0\0\0\0", 4);
  control.true_value = std::string("\1\0\0\0", 4);
  return control;
}

inline SequenceControl IdControl(DataType type) {
  SequenceControl control;
  control.input = "CORRID";
  control.kind = SequenceControl::Kind::kCorrelationId;
  control.data_type = type;
  return control;
}

// A model with one INT8 input whose one dimension may vary, and all controls.
inline CompiledModel SequenceModel(int32_t max_batch, int instances, bool oldest = false,
                                   uint32_t candidates = 0) {
  ModelBuilder builder("m");
  builder.MaxBatch(max_batch).Input("in", DataType::kInt8, {-1}).Instances(instances);
  if (oldest) builder.Batching();
  CompiledModel model = builder.Build();
  SequenceOptions& options = model.sequence;
  options.enabled = true;
  options.oldest = oldest;
  options.slots = candidates > 0 ? candidates : static_cast<uint32_t>(std::max(1, max_batch));
  options.max_idle = std::chrono::seconds(1);
  options.controls = {Int32Control("START", SequenceControl::Kind::kStart),
                      Int32Control("END", SequenceControl::Kind::kEnd),
                      Int32Control("READY", SequenceControl::Kind::kReady),
                      IdControl(DataType::kUint64)};
  return model;
}

// What an instance was given: the names of the requests, "-" for fillers, and the controls.
struct PulledBatch {
  std::vector<std::string> names;
  std::vector<int32_t> start;
  std::vector<int32_t> end;
  std::vector<int32_t> ready;
  std::vector<uint64_t> ids;
};

class SequenceFixture : public ::testing::Test {
 protected:
  void TearDown() override {
    for (size_t i = 0; i < running_.size(); ++i) Finish(static_cast<uint32_t>(i));
    if (scheduler_ != nullptr) scheduler_->Shutdown();
    scheduler_.reset();
  }

  void Use(CompiledModel model, size_t hold_until_queued = 0, size_t hold_until_backlogged = 0) {
    const auto instances = static_cast<uint32_t>(model.instances.size());
    model_ = std::make_shared<FakeModel>(std::move(model), &clock_, OutputLabels(), MetricsConfig(),
                                         /*recorded=*/64);
    scheduler_ = std::make_unique<SequenceScheduler>(
        &model_->config(), instances, &clock_,
        SequenceSchedulerOptions{&timer_, hold_until_queued, hold_until_backlogged});
    model_->on_cancel = [this](InferRequest* request) { scheduler_->OnCancel(request); };
    running_.resize(instances);
  }

  // A request of sequence `id`. `name` appears in PulledBatch.
  TestRequest& NewRequest(std::string name, CorrelationId id, uint32_t flags = 0,
                          int64_t length = 1, int64_t batch = 1) {
    requests_.push_back(std::make_unique<TestRequest>(model_));
    TestRequest& request = *requests_.back();
    request->set_id(name);
    request->set_correlation_id(std::move(id));
    request->set_flags(flags);
    const bool batched = model_->config().max_batch_size > 0;
    request.Input("in", DataType::kInt8, batched ? Shape{batch, length} : Shape{length});
    return request;
  }

  absl::Status Issue(TestRequest* request) {
    RequestPtr owned = request->Issue();
    absl::Status status = scheduler_->Enqueue(&owned);
    if (!status.ok()) request->TakeBack(std::move(owned));
    return status;
  }

  TestRequest& Send(std::string name, uint64_t id, uint32_t flags = 0, int64_t length = 1) {
    TestRequest& request = NewRequest(std::move(name), CorrelationId(id), flags, length);
    EXPECT_EQ(Issue(&request), absl::OkStatus());
    return request;
  }

  // The error of a request that is refused.
  absl::Status Refused(uint64_t id, uint32_t flags = 0) {
    return Issue(&NewRequest("refused", CorrelationId(id), flags));
  }

  // The batch that instance `i` takes now; empty if nothing is due.
  PulledBatch Pull(uint32_t i = 0) {
    PulledBatch pulled;
    std::optional<Batch> batch = scheduler_->source(i)->TryPull();
    if (!batch.has_value()) return pulled;
    running_[i].origin = batch->origin;
    for (RequestPtr& request : *batch) {
      pulled.names.push_back(request->is_synthetic() ? "-" : request->id());
      pulled.start.push_back(Control<int32_t>(*request, "START"));
      pulled.end.push_back(Control<int32_t>(*request, "END"));
      pulled.ready.push_back(Control<int32_t>(*request, "READY"));
      pulled.ids.push_back(Control<uint64_t>(*request, "CORRID"));
      running_[i].push_back(std::move(request));
    }
    return pulled;
  }
  std::vector<std::string> PullNames(uint32_t i = 0) { return Pull(i).names; }

  // Answers and releases the requests that instance `i` has.
  void Finish(uint32_t i = 0) { FinishBatch(std::exchange(running_[i], {})); }

  std::vector<std::string> PullAndFinish(uint32_t i = 0) {
    std::vector<std::string> names = PullNames(i);
    Finish(i);
    return names;
  }

  // Waits until the timer has made a batch due for instance `i`. Yields instead of sleeping.
  PulledBatch AwaitPull(uint32_t i = 0) {
    PulledBatch pulled = Pull(i);
    while (pulled.names.empty()) {
      std::this_thread::yield();
      pulled = Pull(i);
    }
    return pulled;
  }

  // The one element of the control tensor `name` of `request`; 0 if the request has none.
  template <typename T>
  static T Control(const InferRequest& request, absl::string_view name) {
    const InferInput* const input = request.FindBackendInput(name);
    T value{};
    if (input == nullptr || input->byte_size() != sizeof(value)) return value;
    std::memcpy(&value, input->buffers()[0].base, sizeof(value));
    return value;
  }

  uint64_t Failures(FailureReason reason) {
    return model_->statistics().Snapshot().failures[static_cast<size_t>(reason)];
  }

  FakeClock clock_;
  Timer timer_{&clock_};
  std::shared_ptr<FakeModel> model_;
  std::deque<std::unique_ptr<TestRequest>> requests_;
  std::unique_ptr<SequenceScheduler> scheduler_;
  std::vector<Batch> running_;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_TESTING_SEQUENCE_FIXTURE_H_
