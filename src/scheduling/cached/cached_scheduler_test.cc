// SPDX-License-Identifier: Apache-2.0
#include "scheduling/cached/cached_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <thread>

#include "base/status_macros.h"
#include "base/testing/door.h"
#include "infer/response.h"
#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

// A cache in a map, for which a test can script failures. Thread-safe; the script is set before
// use.
class FakeCache final : public ResponseCache {
 public:
  explicit FakeCache(bool fast) : fast_(fast) {}

  // Called at the start of each call; an error becomes the result of the call.
  std::function<absl::Status()> on_lookup = [] { return absl::OkStatus(); };
  std::function<absl::Status()> on_insert = [] { return absl::OkStatus(); };

  const std::string& name() const override { return name_; }
  bool answers_at_once() const override { return fast_; }
  absl::Status Lookup(const std::string& key,
                      absl::FunctionRef<absl::Status(absl::string_view)> read) override {
    ++lookups;
    if (absl::Status status = on_lookup(); !status.ok()) return status;
    std::string bytes;
    {
      MutexLock lock(&mu_);
      const auto found = entries_.find(key);
      if (found == entries_.end()) return absl::NotFoundError(key);
      bytes = found->second;
    }
    return read(bytes);
  }
  absl::Status Insert(const std::string& key, size_t size,
                      absl::FunctionRef<void(char*)> write) override {
    absl::Status status = on_insert();
    if (status.ok()) {
      std::string bytes(size, '\0');
      write(bytes.data());
      MutexLock lock(&mu_);
      if (!entries_.emplace(key, bytes).second) status = absl::AlreadyExistsError(key);
    }
    ++inserts;
    return status;
  }

  // Cuts the last byte off every entry.
  void Damage() {
    MutexLock lock(&mu_);
    for (auto& [key, bytes] : entries_) bytes.pop_back();
  }
  size_t size() {
    MutexLock lock(&mu_);
    return entries_.size();
  }

  std::atomic<int> lookups{0}, inserts{0};

 private:
  const std::string name_ = "fake";
  const bool fast_;
  Mutex mu_;
  std::map<std::string, std::string> entries_ ABSL_GUARDED_BY(mu_);
};

// Replaces the inner scheduler and its model: keeps the requests.
class FakeInner final : public Scheduler {
 public:
  // Gets each request instead of keeping it. Set before use.
  std::function<void(RequestPtr)> on_request;

  absl::Status Enqueue(RequestPtr* request) override {
    {
      MutexLock lock(&mu_);
      if (closed_ && !(*request)->passes_closed_admission()) {
        return absl::UnavailableError("the inner scheduler is closed");
      }
      if (full_) {
        (*request)->model()->statistics().RecordFailure(ModelStatistics::kModelShard,
                                                        FailureReason::kRejected, 0);
        return absl::UnavailableError("the queue is full");
      }
      ++count_;
      changed_.NotifyAll();
      if (!on_request) {
        requests_.push_back(std::move(*request));
        return absl::OkStatus();
      }
    }
    on_request(std::move(*request));
    return absl::OkStatus();
  }
  void CloseAdmission() override {
    MutexLock lock(&mu_);
    closed_ = true;
    changed_.NotifyAll();
  }
  // From now on the queue is full: requests are refused, and counted as failures.
  void Fill() {
    MutexLock lock(&mu_);
    full_ = true;
  }
  void OnCancel(InferRequest*) override {
    MutexLock lock(&mu_);
    ++cancels_;
  }
  void Shutdown() override { CloseAdmission(); }

  bool closed() const {
    MutexLock lock(&mu_);
    return closed_;
  }
  int count() const {
    MutexLock lock(&mu_);
    return count_;
  }
  int cancels() const {
    MutexLock lock(&mu_);
    return cancels_;
  }
  void AwaitCount(int count) {
    MutexLock lock(&mu_);
    while (count_ < count) changed_.Wait(&mu_);
  }
  void AwaitClosed() {
    MutexLock lock(&mu_);
    while (!closed_) changed_.Wait(&mu_);
  }
  // Takes out the oldest request.
  RequestPtr Take() {
    MutexLock lock(&mu_);
    RequestPtr request = std::move(requests_.front());
    requests_.pop_front();
    return request;
  }

 private:
  mutable Mutex mu_;
  CondVar changed_;
  std::deque<RequestPtr> requests_ ABSL_GUARDED_BY(mu_);
  int count_ ABSL_GUARDED_BY(mu_) = 0;
  int cancels_ ABSL_GUARDED_BY(mu_) = 0;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  bool full_ ABSL_GUARDED_BY(mu_) = false;
};

std::unique_ptr<InferResponse> MakeResponse(const InferRequest& request, const std::string& bytes) {
  std::unique_ptr<InferResponse> response = request.stream()->NewResponse();
  const Shape shape = {1, static_cast<int64_t>(bytes.size())};
  const auto output = response->AddOutput("out", DataType::kInt8, shape);
  EXPECT_TRUE(output.ok()) << output.status();
  EXPECT_TRUE((*output)->Allocate(bytes.size(), MemoryPlace{}).ok());
  if (!bytes.empty()) std::memcpy((*output)->buffer().base, bytes.data(), bytes.size());
  return response;
}

// Does what an instance does before it executes the request.
void Execute(InferRequest* request) {
  request->lifecycle().MoveTo(RequestState::kExecuting, "").IgnoreError();
  request->model()->statistics().AddPending(-1);
}
void Respond(RequestPtr request, const std::string& bytes) {
  Execute(request.get());
  const std::shared_ptr<ResponseStream> stream = request->stream();
  EXPECT_TRUE(stream->Send(MakeResponse(*request, bytes), kResponseCompleteFinal).ok());
}

std::string BytesOf(const TestRequest::Answer& answer) {
  if (answer.response == nullptr || answer.response->outputs().size() != 1) return "<no output>";
  const OutputBuffer& buffer = answer.response->outputs()[0].buffer();
  return {static_cast<const char*>(buffer.base), buffer.byte_size};
}

class CachedSchedulerTest : public testing::Test {
 protected:
  void TearDown() override {
    executor_.reset();
    scheduler_.reset();
  }

  void Use(bool fast, size_t queue_limit = 100, int threads = 1) {
    cache_ = std::make_unique<FakeCache>(fast);
    if (!fast)
      executor_ =
          std::make_unique<ThreadPool>(ThreadPoolOptions{"cache", threads, threads, queue_limit});
    scheduler_ = std::make_unique<CachedScheduler>(std::move(owned_), cache_.get(), executor_.get(),
                                                   model_->config(), "print", &clock_);
  }

  TestRequest& NewRequest(const std::string& bytes = "ask") {
    requests_.push_back(std::make_unique<TestRequest>(model_));
    requests_.back()->Input("in", DataType::kInt8, {1, static_cast<int64_t>(bytes.size())}, bytes);
    return *requests_.back();
  }
  TestRequest& Enqueue(const std::string& bytes = "ask") {
    TestRequest& request = NewRequest(bytes);
    RequestPtr owned = request.Issue();
    const absl::Status status = scheduler_->Enqueue(&owned);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(owned, nullptr);
    return request;
  }
  // Fills the cache: sends a request that is not in the cache, and lets the model answer.
  void Fill(const std::string& bytes, const std::string& answer) {
    const int before = inner_.count();
    TestRequest& request = Enqueue(bytes);
    inner_.AwaitCount(before + 1);
    Respond(inner_.Take(), answer);
    request.WaitDone();
    EXPECT_EQ(BytesOf(request.answer(0)), answer);
  }
  StatisticsSnapshot Statistics() const { return model_->statistics().Snapshot(); }

  FakeClock clock_;
  const std::shared_ptr<FakeModel> model_ =
      FakeModel::Make(ModelBuilder("m")
                          .MaxBatch(8)
                          .Input("in", DataType::kInt8, {-1})
                          .Output("out", DataType::kInt8, {-1}),
                      &clock_);
  std::deque<std::unique_ptr<TestRequest>> requests_;
  std::unique_ptr<FakeInner> owned_ = std::make_unique<FakeInner>();
  FakeInner& inner_ = *owned_;  // until TearDown
  std::unique_ptr<FakeCache> cache_;
  std::unique_ptr<ThreadPool> executor_;
  std::unique_ptr<CachedScheduler> scheduler_;
};

TEST_F(CachedSchedulerTest, WhatWasAskedBeforeIsAnsweredWithoutTheModel) {
  Use(/*fast=*/true);
  Fill("ask", "answer");
  TestRequest& again = Enqueue("ask");
  EXPECT_EQ(again.releases(), 1) << "answered before Enqueue returned";
  ASSERT_EQ(again.answer_count(), 1u);
  EXPECT_TRUE(again.answer(0).is_final());
  EXPECT_TRUE(again.answer(0).status().ok());
  EXPECT_EQ(BytesOf(again.answer(0)), "answer");
  EXPECT_EQ(again.answer(0).response->outputs()[0].shape(), (Shape{1, 6}));
  EXPECT_EQ(inner_.count(), 1);
  Fill("something else", "other answer");
  EXPECT_EQ(BytesOf(Enqueue("something else").answer(0)), "other answer");
}

TEST_F(CachedSchedulerTest, WhatIsAnsweredOnAGpuGoesPastTheCache) {
  Use(/*fast=*/true);
  Fill("ask", "answer");
  TestRequest& request = NewRequest("ask");
  request.AnswerOnGpu();
  RequestPtr owned = request.Issue();
  ASSERT_TRUE(scheduler_->Enqueue(&owned).ok());
  EXPECT_EQ(cache_->lookups, 1);
  inner_.AwaitCount(2);
  Respond(inner_.Take(), "new");
  request.WaitDone();
  EXPECT_EQ(BytesOf(request.answer(0)), "new");
}

// An allocator whose buffers are said to be on a GPU.
class GpuAllocator final : public OutputAllocator {
 public:
  absl::Status Allocate(const char* name, void* userp, OutputBuffer* buffer) const override {
    RETURN_IF_ERROR(heap_.Allocate(name, userp, buffer));
    buffer->place = {MemoryType::kGpu, 0};
    return absl::OkStatus();
  }
  void Release(const OutputBuffer& buffer) const override { heap_.Release(buffer); }

 private:
  const HeapOutputAllocator heap_{nullptr};
};

TEST_F(CachedSchedulerTest, WhatLiesOnAGpuIsNotKept) {
  Use(/*fast=*/true);
  const GpuAllocator allocator;
  TestRequest& request = NewRequest("ask");
  ResponseTarget target = request->response_target();
  target.allocator = &allocator;
  request->set_response_target(target);
  RequestPtr owned = request.Issue();
  ASSERT_TRUE(scheduler_->Enqueue(&owned).ok());
  inner_.AwaitCount(1);
  Respond(inner_.Take(), "answer");
  request.WaitDone();
  EXPECT_EQ(cache_->size(), 0u);
  request.answer(0).response.reset();  // before its allocator
}

TEST_F(CachedSchedulerTest, HitsAndMissesAreCounted) {
  Use(/*fast=*/true);
  cache_->on_lookup = [&] {
    clock_.Advance(std::chrono::microseconds(3));
    return absl::OkStatus();
  };
  cache_->on_insert = [&] {
    clock_.Advance(std::chrono::microseconds(5));
    return absl::OkStatus();
  };
  TestRequest& missed = Enqueue();
  clock_.Advance(std::chrono::microseconds(100));
  Respond(inner_.Take(), "answer");
  EXPECT_EQ(missed.releases(), 1);
  StatisticsSnapshot s = Statistics();
  EXPECT_EQ(s.cache_miss.count, 1u);
  EXPECT_EQ(s.cache_miss.ns, 8000u);
  EXPECT_EQ(s.success.count, 0u) << "that is for the backend to report";
  EXPECT_EQ(s.success.ns, 8000u);
  EXPECT_EQ(s.cache_hit.count, 0u);

  Enqueue();
  s = Statistics();
  EXPECT_EQ(s.cache_hit.count, 1u);
  EXPECT_EQ(s.cache_hit.ns, 3000u);
  EXPECT_EQ(s.success.count, 1u);
  EXPECT_EQ(s.success.ns, 11'000u);
  EXPECT_EQ(s.queue.count, 1u);
  EXPECT_EQ(s.inference_count, 0u);
  EXPECT_EQ(s.execution_count, 0u);
  EXPECT_EQ(s.pending, 0);
}

TEST_F(CachedSchedulerTest, OnlyAWholeAndSuccessfulAnswerIsKept) {
  Use(/*fast=*/true);
  // An error is not kept.
  TestRequest& failed = Enqueue();
  RequestPtr request = inner_.Take();
  Execute(request.get());
  request->stream()->SendFinalError(absl::InternalError("the model fails"));
  request.reset();
  EXPECT_FALSE(failed.final_status().ok());
  // Two responses are not kept, although the last one is final.
  Enqueue();
  request = inner_.Take();
  Execute(request.get());
  EXPECT_TRUE(request->stream()->Send(MakeResponse(*request, "first"), 0).ok());
  EXPECT_TRUE(request->stream()->Send(MakeResponse(*request, "last"), kResponseCompleteFinal).ok());
  request.reset();
  // A request without a response leaves nothing to keep.
  Enqueue();
  request = inner_.Take();
  Execute(request.get());
  EXPECT_TRUE(request->stream()->Send(nullptr, kResponseCompleteFinal).ok());
  request.reset();
  EXPECT_EQ(cache_->inserts.load(), 0);
  EXPECT_EQ(inner_.count(), 3);
  EXPECT_EQ(Statistics().cache_miss.count, 0u);
}

TEST_F(CachedSchedulerTest, AFailingLookUpIsNoFailureOfTheRequest) {
  Use(/*fast=*/true);
  cache_->on_lookup = [] { return absl::InternalError("the cache is broken"); };
  ::testing::internal::CaptureStderr();
  Fill("ask", "answer");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("[request id: <id_unknown>] Failed to look up"));
  Fill("ask", "answer");
  EXPECT_EQ(cache_->inserts.load(), 0);
  EXPECT_EQ(Statistics().cache_hit.count, 0u);
  EXPECT_EQ(Statistics().cache_miss.count, 0u);
}

TEST_F(CachedSchedulerTest, DamagedBytesAreNoAnswer) {
  Use(/*fast=*/true);
  Fill("ask", "answer");
  cache_->Damage();
  Fill("ask", "answer");
  EXPECT_EQ(Statistics().cache_hit.count, 0u);
}

TEST_F(CachedSchedulerTest, AFailingInsertionIsNoFailureOfTheRequest) {
  Use(/*fast=*/true);
  cache_->on_insert = [] { return absl::InternalError("the cache is full"); };
  Fill("ask", "answer");
  Fill("ask", "answer");
  EXPECT_EQ(Statistics().cache_miss.count, 2u) << "an attempt counts";
}

TEST_F(CachedSchedulerTest, AnInsertionThatAnotherThreadWasFasterWithDoesNotCount) {
  Use(/*fast=*/true);
  TestRequest& first = Enqueue();
  TestRequest& second = Enqueue();
  Respond(inner_.Take(), "answer");
  Respond(inner_.Take(), "answer");
  EXPECT_EQ(BytesOf(first.answer(0)), "answer");
  EXPECT_EQ(BytesOf(second.answer(0)), "answer");
  EXPECT_EQ(cache_->inserts.load(), 2);
  EXPECT_EQ(Statistics().cache_miss.count, 1u);
}

TEST_F(CachedSchedulerTest, AfterTheDoorClosedNothingIsAnswered) {
  Use(/*fast=*/true);
  Fill("ask", "answer");
  scheduler_->CloseAdmission();
  EXPECT_TRUE(inner_.closed());
  TestRequest& late = NewRequest();
  late->set_id("late");
  RequestPtr owned = late.Issue();
  const absl::Status refused = scheduler_->Enqueue(&owned);
  EXPECT_EQ(refused, absl::UnavailableError("[request id: late] Server is stopping, scheduler for "
                                            "model has stopped accepting new inference requests"));
  late.TakeBack(std::move(owned));
}

// ---- A cache whose calls may block.

// A clock that calls a function whenever it is read.
class TellingClock final : public Clock {
 public:
  std::function<void()> on_now = [] {};

  TimePoint Now() const override {
    on_now();
    return clock_.Now();
  }
  uint64_t WallMillis() const override { return clock_.WallMillis(); }
  void Wait(CondVar* cv, Mutex* mu, std::optional<TimePoint> deadline) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    clock_.Wait(cv, mu, deadline);
  }

 private:
  FakeClock clock_;
};

TEST_F(CachedSchedulerTest, APartOfWhatWasLetInPassesADoorThatClosesJustNow) {
  Use(/*fast=*/false);
  TellingClock clock;
  auto behind = std::make_unique<FakeInner>();
  FakeInner& inner = *behind;
  CachedScheduler scheduler(std::move(behind), cache_.get(), executor_.get(), model_->config(),
                            "print", &clock);
  // Enqueue reads the clock after it has found admission open.
  clock.on_now = [&] { scheduler.CloseAdmission(); };
  TestRequest& child = NewRequest();
  child->MakePart(nullptr);
  RequestPtr owned = child.Issue();
  owned->set_queue_start_ns(0);
  EXPECT_EQ(scheduler.Enqueue(&owned), absl::OkStatus());
  ASSERT_EQ(inner.count(), 1);
  EXPECT_EQ(cache_->lookups, 0);
  Respond(inner.Take(), "answer");
  EXPECT_EQ(BytesOf(child.answer(0)), "answer");
}

TEST_F(CachedSchedulerTest, ASlowCacheDoesNotHoldTheThreadThatAsks) {
  Use(/*fast=*/false);
  Fill("ask", "answer");
  // The executor has one thread: the insertion has ended when the next job runs.
  Door door;
  cache_->on_lookup = [&] {
    door.Pass();
    return absl::OkStatus();
  };
  TestRequest& request = Enqueue("ask");
  door.AwaitWaiting(1);
  EXPECT_EQ(request.releases(), 0);
  door.Open();
  request.WaitDone();
  EXPECT_EQ(BytesOf(request.answer(0)), "answer");
  EXPECT_EQ(inner_.count(), 1);
  EXPECT_EQ(Statistics().cache_hit.count, 1u);
}

TEST_F(CachedSchedulerTest, MoreLookUpsThanTheCacheCanAnswerGoPastIt) {
  Use(/*fast=*/false, /*queue_limit=*/1);
  Door door;
  cache_->on_lookup = [&] {
    door.Pass();
    return absl::OkStatus();
  };
  Enqueue("1");
  door.AwaitWaiting(1);
  Enqueue("2");  // waits for the cache
  Enqueue("3");  // bypasses the cache
  EXPECT_EQ(inner_.count(), 1);
  Respond(inner_.Take(), "answer 3");
  EXPECT_EQ(BytesOf(requests_[2]->answer(0)), "answer 3");
  door.Open();
  inner_.AwaitCount(3);
  Respond(inner_.Take(), "answer 1");
  Respond(inner_.Take(), "answer 2");
  EXPECT_EQ(BytesOf(requests_[0]->answer(0)), "answer 1");
}

TEST_F(CachedSchedulerTest, WhatWasTakenIsServedAlthoughTheDoorCloses) {
  Use(/*fast=*/false);
  Door door;
  cache_->on_lookup = [&] {
    door.Pass();
    return absl::OkStatus();
  };
  TestRequest& request = Enqueue();
  door.AwaitWaiting(1);
  scheduler_->CloseAdmission();
  EXPECT_FALSE(inner_.closed());
  TestRequest& late = NewRequest("late");
  RequestPtr owned = late.Issue();
  EXPECT_EQ(scheduler_->Enqueue(&owned).code(), absl::StatusCode::kUnavailable);
  late.TakeBack(std::move(owned));
  door.Open();
  inner_.AwaitClosed();
  EXPECT_EQ(inner_.count(), 1);
  Respond(inner_.Take(), "answer");
  request.WaitDone();
  EXPECT_TRUE(request.final_status().ok());
}

TEST_F(CachedSchedulerTest, ARequestCancelledDuringItsLookUpIsNotQueued) {
  Use(/*fast=*/false);
  Door door;
  cache_->on_lookup = [&] {
    door.Pass();
    return absl::OkStatus();
  };
  TestRequest& request = Enqueue();
  door.AwaitWaiting(1);
  EXPECT_TRUE(request->Cancel().ok());
  door.Open();
  request.WaitDone();
  EXPECT_EQ(request.final_status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(inner_.count(), 0);
  EXPECT_EQ(Statistics().failures[static_cast<size_t>(FailureReason::kCanceled)], 1u);
}

TEST_F(CachedSchedulerTest, ARefusalAfterTheLookUpIsAnswered) {
  Use(/*fast=*/false);
  inner_.Fill();
  TestRequest& request = Enqueue();
  request.WaitDone();
  EXPECT_EQ(request.final_status(), absl::UnavailableError("the queue is full"));
  EXPECT_EQ(Statistics().failures[static_cast<size_t>(FailureReason::kRejected)], 1u);
  EXPECT_EQ(Statistics().pending, 0);
}

TEST_F(CachedSchedulerTest, InsertionsThatTheCacheCannotTakeAreLeftOut) {
  Use(/*fast=*/false, /*queue_limit=*/1);
  TestRequest& request = Enqueue("1");
  inner_.AwaitCount(1);
  Door door;
  cache_->on_lookup = [&] {
    door.Pass();
    return absl::OkStatus();
  };
  Enqueue("2");
  door.AwaitWaiting(1);
  Enqueue("3");  // fills the queue
  Respond(inner_.Take(), "answer");
  request.WaitDone();
  EXPECT_EQ(BytesOf(request.answer(0)), "answer");
  door.Open();
  inner_.AwaitCount(3);
  Respond(inner_.Take(), "");
  Respond(inner_.Take(), "");
  executor_.reset();  // runs the queued jobs
  EXPECT_EQ(Statistics().cache_miss.count, static_cast<uint64_t>(cache_->inserts.load()));
  EXPECT_LT(cache_->inserts.load(), 3);
}

// Every request gets the right answer, whether it comes from the cache or from the model.
void Storm(bool fast) {
  constexpr int kThreads = 4, kEach = 1500, kDistinct = 40;
  const std::shared_ptr<FakeModel> model =
      FakeModel::Make(ModelBuilder("m")
                          .MaxBatch(8)
                          .Input("in", DataType::kInt8, {-1})
                          .Output("out", DataType::kInt8, {-1}));
  auto behind = std::make_unique<FakeInner>();
  FakeInner& inner = *behind;
  inner.on_request = [](RequestPtr request) {
    const InputBuffer& in = request->inputs()[0].buffers()[0];
    Respond(std::move(request),
            "answer to " + std::string(static_cast<const char*>(in.base), in.byte_size));
  };
  FakeCache cache(fast);
  std::atomic<int> calls{0};
  cache.on_lookup = [&] {
    return ++calls % 50 == 0 ? absl::InternalError("now and then") : absl::OkStatus();
  };
  cache.on_insert = cache.on_lookup;
  auto executor = std::make_unique<ThreadPool>(ThreadPoolOptions{"cache", 2, 2, 64});
  CachedScheduler scheduler(std::move(behind), &cache, executor.get(), model->config(), "",
                            Clock::Real());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const std::string ask = std::to_string((i * 7 + t) % kDistinct);
        TestRequest request(model);
        request.Input("in", DataType::kInt8, {1, static_cast<int64_t>(ask.size())}, ask);
        RequestPtr owned = request.Issue();
        ASSERT_TRUE(scheduler.Enqueue(&owned).ok());
        if (i % 11 == 0) request->Cancel().IgnoreError();
        request.WaitDone();
        ASSERT_EQ(request.answer_count(), 1u);
        ASSERT_EQ(request.releases(), 1);
        if (absl::IsCancelled(request.final_status())) continue;
        ASSERT_EQ(BytesOf(request.answer(0)), "answer to " + ask);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  scheduler.CloseAdmission();
  executor.reset();
  const StatisticsSnapshot s = model->statistics().Snapshot();
  EXPECT_GT(s.cache_hit.count, 0u);
  EXPECT_GE(s.cache_miss.count, static_cast<uint64_t>(kDistinct) / 2);
  EXPECT_LE(cache.size(), static_cast<size_t>(kDistinct));
  EXPECT_EQ(s.pending, 0);
  EXPECT_EQ(s.cache_hit.count + s.fail.count + static_cast<uint64_t>(inner.count()),
            static_cast<uint64_t>(kThreads * kEach));
}

TEST(CachedSchedulerStormTest, FastCache) { Storm(/*fast=*/true); }
TEST(CachedSchedulerStormTest, SlowCache) { Storm(/*fast=*/false); }

}  // namespace
}  // namespace nereid
