// SPDX-License-Identifier: Apache-2.0
// SchedulerFixture: a DynamicScheduler on a fake clock, its model, requests and instances.
// Thread-compatible.
#ifndef NEREID_SCHEDULING_TESTING_SCHEDULER_FIXTURE_H_
#define NEREID_SCHEDULING_TESTING_SCHEDULER_FIXTURE_H_

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"
#include "scheduling/dynamic/dynamic_scheduler.h"
#include "scheduling/testing/puller.h"

namespace nereid {

inline constexpr std::chrono::microseconds kDelay{1000};
inline constexpr size_t kRecorded = 64;  // events of the model's recorder
inline constexpr char kStopping[] =
    "Server is stopping, scheduler for model has stopped accepting new inference requests";

class SchedulerFixture : public ::testing::Test {
 protected:
  void TearDown() override {
    if (scheduler_ != nullptr) scheduler_->Shutdown();
    puller_.reset();
    if (scheduler_ != nullptr) scheduler_->DropStrategy();
    scheduler_.reset();  // before the requests that its queue may hold
  }

  // A model with one INT8 input whose one dimension may vary.
  static ModelBuilder Model(int32_t max_batch = 8) {
    ModelBuilder builder("m");
    builder.MaxBatch(max_batch).Input("in", DataType::kInt8, {-1});
    return builder;
  }

  void Use(const ModelBuilder& builder, std::unique_ptr<BatchStrategy> strategy = nullptr,
           Duration inline_limit = Duration(0), const DynamicSchedulerOptions& options = {}) {
    model_ = FakeModel::Make(builder, &clock_, kRecorded);
    scheduler_ = std::make_unique<DynamicScheduler>(&model_->config(), std::move(strategy), &clock_,
                                                    inline_limit, options);
    model_->on_cancel = [this](InferRequest* request) { scheduler_->OnCancel(request); };
  }

  TestRequest& NewRequest(int64_t batch = 1, int64_t length = 1) {
    requests_.push_back(std::make_unique<TestRequest>(model_));
    TestRequest& request = *requests_.back();
    request->set_id(std::to_string(requests_.size() - 1));
    const bool batched = model_->config().max_batch_size > 0;
    request.Input("in", DataType::kInt8, batched ? Shape{batch, length} : Shape{length});
    return request;
  }

  // Queues a new request and returns it.
  TestRequest& Enqueue(int64_t batch = 1, int64_t length = 1, InlineTurn* turn = nullptr) {
    TestRequest& request = NewRequest(batch, length);
    RequestPtr owned = request.Issue();
    owned->set_inline_turn(turn);
    const absl::Status status = scheduler_->Enqueue(&owned);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(owned, nullptr);
    return request;
  }

  void Pull(int threads = 1, bool hold = false) {
    puller_ = std::make_unique<Puller>(scheduler_.get(), &clock_, threads, hold);
  }

  // Ids of the next batch that an instance has taken. `at`: when it was taken.
  std::vector<std::string> NextBatch(TimePoint* at = nullptr) {
    const Puller::Pulled pulled = puller_->Next();
    if (at != nullptr) *at = pulled.at;
    std::vector<std::string> ids;
    // Safe while in flight: the fixture owns the requests, and their ids do not change.
    for (InferRequest* request : pulled.requests) ids.push_back(request->id());
    return ids;
  }

  // Waits until an instance waits for the delay of a batch. Yields instead of sleeping.
  void AwaitLeader() {
    while (clock_.TimedWaiters() == 0) std::this_thread::yield();
  }

  uint64_t Failures(FailureReason reason) {
    return model_->statistics().Snapshot().failures[static_cast<size_t>(reason)];
  }

  FakeClock clock_;
  std::shared_ptr<FakeModel> model_;
  std::unique_ptr<DynamicScheduler> scheduler_;
  std::deque<std::unique_ptr<TestRequest>> requests_;
  std::unique_ptr<Puller> puller_;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_TESTING_SCHEDULER_FIXTURE_H_
