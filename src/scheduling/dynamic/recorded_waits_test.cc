// SPDX-License-Identifier: Apache-2.0
// What is recorded of the requests and batches of a DynamicScheduler: scripted arrivals on a fake
// clock, whose reasons and waits are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/timer.h"
#include "infer/infer_request.h"
#include "scheduling/testing/recorded.h"
#include "scheduling/testing/scheduler_fixture.h"

namespace nereid {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RecordedWaitsTest : public SchedulerFixture {
 protected:
  // An instance without a thread takes what is due now, and executes it for `took`.
  void Run(Duration took) {
    std::optional<Batch> batch = scheduler_->TryPull();
    ASSERT_TRUE(batch.has_value());
    const TimePoint start = clock_.Now();
    clock_.Advance(took);
    FinishBatch(*std::move(batch), start);
  }
  int64_t Micros(const std::string& id, Phase phase) { return RecordedMicros(*model_, id, phase); }
  FlightRecord Flight(const std::string& id) { return RecordedFlight(*model_, id); }
};

TEST_F(RecordedWaitsTest, AModelThatDoesNotBatch) {
  Use(Model());
  Enqueue();
  clock_.Advance(microseconds(30));
  Enqueue();
  clock_.Advance(microseconds(20));
  Run(microseconds(400));
  Run(microseconds(100));
  EXPECT_THAT(RecordedBatches(*model_), ElementsAre("not_batched:1", "not_batched:1"));
  EXPECT_EQ(Micros("0", Phase::kQueue), 50);
  EXPECT_EQ(Micros("0", Phase::kComputeInfer), 400);
  EXPECT_EQ(Micros("1", Phase::kQueue), 420);
  EXPECT_EQ(Micros("1", Phase::kComputeInfer), 100);
  EXPECT_EQ(LatencyOf(Flight("1")), 520'000u);
}

TEST_F(RecordedWaitsTest, ABatchThatWaitsForItsDelay) {
  Use(Model().Batching({}, kDelay));
  Enqueue();
  clock_.Advance(microseconds(300));
  Enqueue(2);
  clock_.Advance(kDelay - microseconds(300));
  Run(milliseconds(2));
  EXPECT_THAT(RecordedBatches(*model_), ElementsAre("delay_over:2"));
  EXPECT_EQ(Micros("0", Phase::kQueue), 1000);
  EXPECT_EQ(Micros("1", Phase::kQueue), 700);
  EXPECT_EQ(Micros("1", Phase::kComputeInfer), 2000);
  EXPECT_EQ(Flight("0").batch, Flight("1").batch);
  EXPECT_EQ(Flight("1").batch_size, 2u);
  const BatchRecord batch = model_->recorder().Batches(0, 10).at(0);
  EXPECT_EQ(batch.number, Flight("0").batch);
  EXPECT_EQ(batch.units, 3u);
  EXPECT_EQ(batch.exec_end - batch.exec_start, 2'000'000u);
}

TEST_F(RecordedWaitsTest, ReasonsOfSeveralBatches) {
  Use(Model().Batching({4}, kDelay));
  for (int i = 0; i < 8; ++i) Enqueue();
  Run(microseconds(1));
  Run(microseconds(1));
  Enqueue(1, 3);
  Enqueue(1, 4);
  Run(microseconds(1));
  clock_.Advance(kDelay);
  Run(microseconds(1));
  EXPECT_THAT(RecordedBatches(*model_), ElementsAre("preferred_size:4", "preferred_size:4",
                                                    "shape_change:1", "delay_over:1"));
}

// Leaves out the requests of one id, unless a batch begins with them.
class LeavingOut final : public BatchStrategy {
 public:
  explicit LeavingOut(std::string id) : id_(std::move(id)) {}
  void Begin() override {}
  bool Include(InferRequest* request) override { return request->id() != id_; }
  void End() override {}

 private:
  const std::string id_;
};

// The strategy closes the first batch at once; the second one waits for its delay.
TEST_F(RecordedWaitsTest, ABatchThatTheModelsStrategyCloses) {
  Use(Model().Batching({}, kDelay), std::make_unique<LeavingOut>("2"));
  Enqueue();
  clock_.Advance(microseconds(40));
  Enqueue();
  clock_.Advance(microseconds(5));
  EXPECT_FALSE(scheduler_->TryPull().has_value());
  Enqueue();
  Run(microseconds(100));
  Enqueue();
  EXPECT_FALSE(scheduler_->TryPull().has_value());
  clock_.Advance(kDelay - microseconds(100));
  Run(microseconds(100));
  EXPECT_THAT(RecordedBatches(*model_), ElementsAre("strategy:2", "delay_over:2"));
  EXPECT_EQ(Micros("0", Phase::kQueue), 45);
  EXPECT_EQ(Micros("1", Phase::kQueue), 5);
  EXPECT_EQ(Micros("2", Phase::kQueue), 1000);
  EXPECT_EQ(Micros("3", Phase::kQueue), 900);
}

TEST_F(RecordedWaitsTest, FullBatches) {
  Use(Model().MaxBatch(4).Batching({}, kDelay));
  for (int i = 0; i < 5; ++i) Enqueue();
  clock_.Advance(microseconds(10));
  Run(microseconds(100));
  // The next request would not fit.
  Enqueue(2);
  Enqueue(2);
  Run(microseconds(100));
  EXPECT_THAT(RecordedBatches(*model_), ElementsAre("full:4", "full:2"));
  EXPECT_EQ(Micros("3", Phase::kQueue), 10);
  EXPECT_EQ(Micros("4", Phase::kQueue), 110);
  EXPECT_EQ(Micros("5", Phase::kQueue), 0);
}

TEST_F(RecordedWaitsTest, ARequestThatTimesOutHasOnlyWaited) {
  Timer timer(&clock_);
  QueuePolicy policy;
  policy.default_timeout = microseconds(700);
  DynamicSchedulerOptions options;
  options.timer = &timer;
  Use(Model().Batching({}, milliseconds(5)).Policy(policy), nullptr, Duration(0), options);
  TestRequest& request = Enqueue();
  clock_.Advance(microseconds(700));
  request.WaitDone();
  scheduler_->Shutdown();  // no thread of the timer has the request any more
  EXPECT_EQ(Flight("0").outcome, FlightOutcome::kTimedOut);
  EXPECT_EQ(Flight("0").batch, 0u);
  EXPECT_EQ(Micros("0", Phase::kQueue), 700);
  EXPECT_EQ(LatencyOf(Flight("0")), 700'000u);
  EXPECT_THAT(RecordedBatches(*model_), IsEmpty());
  scheduler_.reset();  // before the timer
}

TEST_F(RecordedWaitsTest, ACancelledRequest) {
  Use(Model().Batching({}, kDelay));
  TestRequest& request = Enqueue();
  clock_.Advance(microseconds(40));
  ASSERT_TRUE(request->Cancel().ok());
  request.WaitDone();
  EXPECT_EQ(Flight("0").outcome, FlightOutcome::kCancelled);
  EXPECT_EQ(Micros("0", Phase::kQueue), 40);
}

TEST_F(RecordedWaitsTest, ARefusedRequest) {
  QueuePolicy policy;
  policy.max_queue_size = 1;
  Use(Model().Batching({}, kDelay).Policy(policy));
  model_->on_enqueue = [this](RequestPtr* request) {
    clock_.Advance(microseconds(5));
    return scheduler_->Enqueue(request);
  };
  Enqueue();
  TestRequest& refused = NewRequest();
  refused->lifecycle().MoveTo(RequestState::kInitialized, "").IgnoreError();
  EXPECT_EQ(IssueRequest(ModelPass::Enter(model_), refused.get(), ToNanos(clock_.Now())).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(Flight("1").outcome, FlightOutcome::kRefused);
  EXPECT_EQ(LatencyOf(Flight("1")), 5'000u);
}

TEST_F(RecordedWaitsTest, ErrorsOfTheBackend) {
  Use(Model());
  for (int i = 0; i < 3; ++i) Enqueue();
  Batch refused = *scheduler_->TryPull();
  refused[0]->RespondError(absl::InternalError("no"), FailureReason::kBackend);
  refused.clear();
  Batch answered = *scheduler_->TryPull();
  std::unique_ptr<InferResponse> response = answered[0]->stream()->NewResponse();
  response->set_status(absl::InternalError("no"));
  ASSERT_TRUE(answered[0]->stream()->Send(std::move(response), kResponseCompleteFinal).ok());
  answered.clear();
  Batch forgotten = *scheduler_->TryPull();
  forgotten.clear();
  for (const char* const id : {"0", "1", "2"}) {
    EXPECT_EQ(Flight(id).outcome, FlightOutcome::kError) << id;
    EXPECT_GT(Flight(id).sent, 0u) << id;
  }
}

TEST_F(RecordedWaitsTest, ALongIdIsCut) {
  Use(Model());
  TestRequest& request = NewRequest();
  const std::string id(100, 'i');
  request->set_id(id);
  request->set_correlation_id(CorrelationId(std::string("a-rather-long-sequence")));
  RequestPtr owned = request.Issue();
  ASSERT_TRUE(scheduler_->Enqueue(&owned).ok());
  Run(microseconds(1));
  EXPECT_TRUE(Flight(id).id.cut());
  EXPECT_EQ(Flight(id).sequence_text.text(), "a-rather-long-s");
  EXPECT_TRUE(Flight(id).sequence_text.cut());
}

TEST_F(RecordedWaitsTest, AdaptiveBatching) {
  DynamicSchedulerOptions options;
  options.target = milliseconds(10);
  Use(Model().Batching(), nullptr, Duration(0), options);
  for (int i = 0; i < 3; ++i) Enqueue();
  clock_.Advance(microseconds(10));
  Run(microseconds(200));
  EXPECT_THAT(RecordedBatches(*model_), ElementsAre("idle_instance:3"));
  EXPECT_EQ(Micros("2", Phase::kQueue), 10);
  EXPECT_EQ(Micros("2", Phase::kComputeInfer), 200);
}

// A batch that no scheduler has made is a warm-up.
TEST_F(RecordedWaitsTest, WarmUpsAreNotRecorded) {
  Use(Model());
  Batch batch;
  batch.push_back(NewRequest().Issue());
  FinishBatch(std::move(batch));
  EXPECT_THAT(RecordedBatches(*model_), IsEmpty());
  EXPECT_THAT(model_->recorder().Flights(0, 10), IsEmpty());
}

}  // namespace
}  // namespace nereid
