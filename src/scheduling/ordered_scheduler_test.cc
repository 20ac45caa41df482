// SPDX-License-Identifier: Apache-2.0
#include "scheduling/ordered_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Takes requests and keeps them, or refuses them.
class HoldingScheduler final : public Scheduler {
 public:
  absl::Status Enqueue(RequestPtr* request) override {
    if (!refusal.ok()) return refusal;
    MutexLock lock(&mu_);
    held_.push_back(std::move(*request));
    return absl::OkStatus();
  }
  void CloseAdmission() override { closed = true; }
  void OnCancel(InferRequest* request) override { cancelled = request; }
  void Shutdown() override { shut_down = true; }

  RequestPtr Take(size_t index) {
    MutexLock lock(&mu_);
    return std::move(held_[index]);
  }

  absl::Status refusal;
  bool closed = false, shut_down = false;
  InferRequest* cancelled = nullptr;

 private:
  Mutex mu_;
  std::deque<RequestPtr> held_ ABSL_GUARDED_BY(mu_);
};

class OrderedSchedulerTest : public ::testing::Test {
 protected:
  // A request whose answers are noted in `answered_`.
  struct Observed {
    Observed(OrderedSchedulerTest* test_in, size_t number_in)
        : test(test_in), number(number_in), request(test_in->model_) {
      ResponseTarget target = request->response_target();
      inner = target;
      target.fn = [](InferResponse* response, uint32_t flags, const ResponseTarget& t) {
        auto* const self = static_cast<Observed*>(t.userp);
        self->test->answered_.push_back(self->number);
        if (self->on_answer) self->on_answer();
        self->inner.fn(response, flags, self->inner);
      };
      target.userp = this;
      request->set_response_target(target);
    }

    OrderedSchedulerTest* test;
    size_t number;
    TestRequest request;
    ResponseTarget inner;
    std::function<void()> on_answer;
  };

  absl::Status TryEnqueue() {
    requests_.push_back(std::make_unique<Observed>(this, requests_.size()));
    RequestPtr owned = requests_.back()->request.Issue();
    const absl::Status status = ordered_.Enqueue(&owned);
    if (!status.ok()) requests_.back()->request.TakeBack(std::move(owned));
    return status;
  }
  void Enqueue(int count) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(TryEnqueue().ok());
  }
  // `index`: among the requests that the inner scheduler holds.
  void Finish(size_t index) {
    RequestPtr request = inner_.Take(index);
    request->stream()->Send(nullptr, kResponseCompleteFinal).IgnoreError();
  }

  std::shared_ptr<FakeModel> model_ = FakeModel::Make(ModelBuilder("m"));
  std::unique_ptr<HoldingScheduler> owned_ = std::make_unique<HoldingScheduler>();
  HoldingScheduler& inner_ = *owned_;
  OrderedScheduler ordered_{std::move(owned_)};
  std::vector<size_t> answered_;  // numbers of requests; written by one delivery at a time
  std::deque<std::unique_ptr<Observed>> requests_;
};

TEST_F(OrderedSchedulerTest, AnswersLeaveInTheOrderOfTheRequests) {
  Enqueue(3);
  Finish(2);
  Finish(1);
  EXPECT_THAT(answered_, IsEmpty());
  EXPECT_EQ(requests_[2]->request.releases(), 1) << "only the answer waits";
  Finish(0);
  EXPECT_THAT(answered_, ElementsAre(0, 1, 2));
}

TEST_F(OrderedSchedulerTest, WhatIsInOrderLeavesAtOnce) {
  Enqueue(2);
  Finish(0);
  EXPECT_THAT(answered_, ElementsAre(0));
  Finish(1);
  Enqueue(1);
  Finish(2);
  EXPECT_THAT(answered_, ElementsAre(0, 1, 2));
}

TEST_F(OrderedSchedulerTest, ErrorsWaitForTheirTurnToo) {
  Enqueue(3);
  RequestPtr cancelled = inner_.Take(1);
  cancelled->RespondError(absl::CancelledError(""), FailureReason::kCanceled);
  cancelled.reset();
  inner_.Take(2).reset();  // released without an answer: the stream sends an error
  EXPECT_THAT(answered_, IsEmpty());
  Finish(0);
  EXPECT_THAT(answered_, ElementsAre(0, 1, 2));
  EXPECT_EQ(requests_[1]->request.final_status(), absl::CancelledError(""));
  EXPECT_EQ(requests_[2]->request.final_status().code(), absl::StatusCode::kInternal);
}

TEST_F(OrderedSchedulerTest, ARefusedRequestHoldsNobodyUp) {
  Enqueue(1);
  inner_.refusal = absl::UnavailableError("full");
  EXPECT_EQ(TryEnqueue(), inner_.refusal);
  inner_.refusal = absl::OkStatus();
  Enqueue(1);
  Finish(1);
  EXPECT_THAT(answered_, IsEmpty());
  Finish(0);
  EXPECT_THAT(answered_, ElementsAre(0, 2));
}

TEST_F(OrderedSchedulerTest, AllResponsesOfAStreamComeBeforeTheNextRequest) {
  Enqueue(2);
  RequestPtr second = inner_.Take(1);
  ASSERT_TRUE(second->stream()->Send(second->stream()->NewResponse(), 0).ok());
  ASSERT_TRUE(second->stream()->Send(nullptr, kResponseCompleteFinal).ok());
  RequestPtr first = inner_.Take(0);
  ASSERT_TRUE(first->stream()->Send(first->stream()->NewResponse(), 0).ok());
  EXPECT_THAT(answered_, ElementsAre(0)) << "the first may answer at any time";
  ASSERT_TRUE(first->stream()->Send(first->stream()->NewResponse(), 0).ok());
  ASSERT_TRUE(first->stream()->Send(nullptr, kResponseCompleteFinal).ok());
  EXPECT_THAT(answered_, ElementsAre(0, 0, 0, 1, 1));
}

TEST_F(OrderedSchedulerTest, NothingIsHeldWhileAnAnswerIsDelivered) {
  Enqueue(3);
  // During the delivery the receiver finishes one request and enqueues another.
  requests_[0]->on_answer = [this] {
    Finish(1);
    Enqueue(1);
  };
  Finish(0);
  EXPECT_THAT(answered_, ElementsAre(0, 1));
  Finish(3);
  Finish(2);
  EXPECT_THAT(answered_, ElementsAre(0, 1, 2, 3));
}

TEST_F(OrderedSchedulerTest, TheRestGoesToTheOtherScheduler) {
  InferRequest* const some = reinterpret_cast<InferRequest*>(this);
  ordered_.OnCancel(some);
  EXPECT_EQ(inner_.cancelled, some);
  ordered_.CloseAdmission();
  EXPECT_TRUE(inner_.closed);
  ordered_.Shutdown();
  EXPECT_TRUE(inner_.shut_down);
}

TEST_F(OrderedSchedulerTest, ManyThreadsFinishInAnyOrder) {
  constexpr size_t kRequests = 2000;
  constexpr size_t kThreads = 4;
  Enqueue(kRequests);
  std::vector<size_t> order(kRequests);
  for (size_t i = 0; i < kRequests; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (size_t i = next++; i < kRequests; i = next++) Finish(order[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(answered_.size(), kRequests);
  for (size_t i = 0; i < kRequests; ++i) ASSERT_EQ(answered_[i], i);
}

}  // namespace
}  // namespace nereid
