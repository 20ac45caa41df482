// SPDX-License-Identifier: Apache-2.0
#include "scheduling/sequence/sequence_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduling/testing/sequence_fixture.h"

namespace nereid {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kStoppingText[] =
    "Server is stopping, scheduler for model has stopped accepting new inference requests";

class SequenceSchedulerTest : public SequenceFixture {
 protected:
  // Makes a model with iterative sequences and one instance.
  void UseIterative(int32_t max_batch, bool oldest = false) {
    CompiledModel model = SequenceModel(max_batch, 1, oldest);
    model.sequence.iterative = true;
    Use(std::move(model));
  }
  // The backend reschedules the requests that instance 0 has.
  void Reschedule() {
    for (RequestPtr& request : std::exchange(running_[0], {})) {
      InferRequest* const bare = request.release();
      bare->lifecycle().MoveTo(RequestState::kExecuting, "").IgnoreError();
      bare->model()->statistics().AddPending(-1);
      bare->Reschedule();
    }
  }
};

// ---- Refused requests.

TEST_F(SequenceSchedulerTest, RequestsThatBelongToNoLivingSequence) {
  Use(SequenceModel(4, 1));
  EXPECT_EQ(Refused(0, kStart),
            absl::InvalidArgumentError("inference request to model 'm' must specify a non-zero or "
                                       "non-empty correlation ID"));
  EXPECT_EQ(Issue(&NewRequest("r", CorrelationId(std::string()), kStart)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Refused(37469245), absl::InvalidArgumentError(
                                   "inference request for sequence 37469245 to model 'm' must "
                                   "specify the START flag on the first request of the sequence"));
  EXPECT_EQ(Issue(&NewRequest("r", CorrelationId(1), kStart, 1, /*batch=*/2)),
            absl::InvalidArgumentError("inference request to model 'm' must specify batch-size 1 "
                                       "due to requirements of sequence batcher"));
  EXPECT_EQ(scheduler_->sequences_in_slots(), 0u);
  // None of them was counted as a failure.
  EXPECT_EQ(Failures(FailureReason::kOther), 0u);
}

TEST_F(SequenceSchedulerTest, WhenItStopsLiveSequencesGoOn) {
  Use(SequenceModel(1, 1));
  Send("a1", 1, kStart);
  Send("b1", 2, kStart);  // in the backlog
  scheduler_->CloseAdmission();
  EXPECT_EQ(Refused(3, kStart), absl::UnavailableError(kStoppingText));
  EXPECT_EQ(Refused(1, kStart), absl::UnavailableError(kStoppingText));
  Send("a2", 1, kEnd);
  Send("b2", 2, kEnd);
  EXPECT_THAT(PullAndFinish(), ElementsAre("a1"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("a2"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("b1"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("b2"));
  EXPECT_EQ(model_->lifetime().inside(), 0);
}

TEST_F(SequenceSchedulerTest, ALiveSequenceKeepsItsModel) {
  Use(SequenceModel(1, 1));
  Send("a1", 1, kStart);
  PullAndFinish();
  EXPECT_EQ(model_->lifetime().inside(), 1);
  bool empty = false;
  model_->lifetime().Close([&] { empty = true; });
  EXPECT_TRUE(model_->lifetime().Join());
  EXPECT_FALSE(empty);
  // After a second without a request, the model is told of the end, as if the client had ended it.
  clock_.Advance(seconds(1));
  EXPECT_THAT(AwaitPull().end, ElementsAre(1));
  Finish();
  EXPECT_TRUE(empty);
  EXPECT_FALSE(model_->lifetime().Join());
}

TEST_F(SequenceSchedulerTest, ShutdownAnswersWhatIsQueued) {
  Use(SequenceModel(1, 1));
  TestRequest& executing = Send("a1", 1, kStart);
  TestRequest& queued = Send("a2", 1);
  TestRequest& waiting = Send("b1", 2, kStart);
  PullNames();
  scheduler_->Shutdown();
  EXPECT_EQ(queued.final_status(), absl::UnavailableError(kStoppingText));
  EXPECT_EQ(waiting.final_status(), absl::UnavailableError(kStoppingText));
  EXPECT_EQ(executing.answer_count(), 0u);
  Finish();
  EXPECT_EQ(executing.final_status(), absl::OkStatus());
  EXPECT_EQ(model_->lifetime().inside(), 0);
  EXPECT_THAT(scheduler_->source(0)->Pull(nullptr, std::nullopt), IsEmpty());
  EXPECT_FALSE(scheduler_->source(0)->AwaitDue(nullptr));
}

TEST_F(SequenceSchedulerTest, AfterShutdownNothingIsQueued) {
  Use(SequenceModel(1, 1));
  scheduler_->Shutdown();
  TestRequest& child = NewRequest("child of an ensemble", CorrelationId(uint64_t{1}), kStart);
  child->MakePart(nullptr);
  EXPECT_EQ(Issue(&child), absl::UnavailableError(kStoppingText));
  EXPECT_EQ(Refused(1), absl::UnavailableError(kStoppingText));
  EXPECT_EQ(scheduler_->live_sequences(), 0u);
}

// ---- Which sequence a request belongs to.

TEST_F(SequenceSchedulerTest, NumbersAndTextsAreDifferentIds) {
  Use(SequenceModel(2, 1));
  CompiledModel model = SequenceModel(2, 1);
  model.sequence.controls.pop_back();  // a control for the id would allow only one kind of id
  Use(std::move(model));
  EXPECT_EQ(Issue(&NewRequest("n1", CorrelationId(5), kStart)), absl::OkStatus());
  EXPECT_EQ(Issue(&NewRequest("t", CorrelationId(std::string("5")))).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Issue(&NewRequest("t1", CorrelationId(std::string("5")), kStart)), absl::OkStatus());
  EXPECT_TRUE(scheduler_->HasSequence(CorrelationId(5)));
  EXPECT_TRUE(scheduler_->HasSequence(CorrelationId(std::string("5"))));
  EXPECT_THAT(PullAndFinish(), ElementsAre("n1", "t1"));
}

TEST_F(SequenceSchedulerTest, StartWithoutEndBeginsAnewInTheSameSlot) {
  Use(SequenceModel(2, 1));
  Send("a1", 1, kStart);
  PullAndFinish();
  Send("b1", 2, kStart);
  Send("a1 again", 1, kStart);
  const PulledBatch pulled = Pull();
  EXPECT_THAT(pulled.names, ElementsAre("a1 again", "b1"));
  EXPECT_THAT(pulled.start, ElementsAre(1, 1));
  EXPECT_EQ(scheduler_->sequences_in_slots(), 2u);
}

TEST_F(SequenceSchedulerTest, AfterTheEndTheIdMayBeUsedAgain) {
  Use(SequenceModel(1, 1));
  Send("a1", 1, kStart);
  Send("a2", 1, kEnd);
  EXPECT_FALSE(scheduler_->HasSequence(CorrelationId(1)));
  EXPECT_EQ(Refused(1).code(), absl::StatusCode::kInvalidArgument);
  // The backlog has two sequences with the same id.
  Send("A1", 1, kStart);
  Send("A2", 1, kEnd);
  Send("AA1", 1, kStart | kEnd);
  EXPECT_EQ(scheduler_->backlogged_sequences(), 2u);
  for (const char* name : {"a1", "a2", "A1", "A2", "AA1"}) {
    EXPECT_THAT(PullAndFinish(), ElementsAre(name));
  }
  EXPECT_EQ(scheduler_->sequences_in_slots(), 0u);
}

// ---- Slots.

TEST_F(SequenceSchedulerTest, ASlotIsFreeWhenTheRequestIsReleased) {
  Use(SequenceModel(1, 1));
  Send("a", 1, kStart | kEnd);
  Send("b", 2, kStart | kEnd);
  EXPECT_THAT(PullNames(), ElementsAre("a"));
  running_[0][0]->stream()->Send(nullptr, kResponseCompleteFinal).IgnoreError();
  // The request is answered, but the backend has not released it.
  EXPECT_EQ(requests_[0]->answer_count(), 1u);
  EXPECT_TRUE(scheduler_->source(0)->TryPull() == std::nullopt);
  running_[0].clear();
  EXPECT_THAT(PullNames(), ElementsAre("b"));
}

TEST_F(SequenceSchedulerTest, OneRequestOfASequenceIsInFlight) {
  for (const bool oldest : {false, true}) {
    Use(SequenceModel(4, 1, oldest));
    Send("a1", 1, kStart);
    Send("a2", 1, kEnd);
    Send("b1", 2, kStart);
    EXPECT_THAT(PullNames(), ElementsAre("a1", "b1"));
    Send("b2", 2, kEnd);
    EXPECT_TRUE(PullNames().empty());
    Finish();
    EXPECT_THAT(PullAndFinish(), ElementsAre("a2", "b2"));
    scheduler_->Shutdown();
  }
}

TEST_F(SequenceSchedulerTest, SequencesStayWithTheirInstance) {
  Use(SequenceModel(1, 2));
  Send("a1", 1, kStart);
  Send("b1", 2, kStart);
  Send("b2", 2);
  EXPECT_THAT(PullAndFinish(1), ElementsAre("b1"));
  EXPECT_TRUE(scheduler_->source(0)->AwaitDue(nullptr));
  EXPECT_THAT(PullAndFinish(0), ElementsAre("a1"));
  EXPECT_TRUE(PullNames(0).empty());
  EXPECT_THAT(PullAndFinish(1), ElementsAre("b2"));
}

// ---- Direct.

TEST_F(SequenceSchedulerTest, GapsAndOtherShapesAreFilled) {
  Use(SequenceModel(4, 1));
  Send("a1", 1, kStart, 3);
  Send("b1", 2, kStart, 3);
  Send("c1", 3, kStart, 3);
  Send("d1", 4, kStart, 3);
  PullAndFinish();
  Send("b2", 2, 0, 3);
  Send("c2", 3, 0, 5);
  Send("d2", 4, 0, 3);
  const PulledBatch pulled = Pull();
  EXPECT_THAT(pulled.names, ElementsAre("-", "b2", "-", "d2"));
  EXPECT_THAT(pulled.ready, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(pulled.ids, ElementsAre(0, 2, 0, 4));
  const InferRequest& gap = *running_[0][0];
  ASSERT_EQ(gap.inputs().size(), 1u);
  EXPECT_THAT(gap.inputs()[0].shape(), ElementsAre(1, 3));
  EXPECT_EQ(gap.inputs()[0].byte_size(), 3u);
  // Fillers are not counted: only the three requests of clients are pending.
  EXPECT_EQ(model_->statistics().Snapshot().pending, 3);
  for (RequestPtr& request : std::exchange(running_[0], {})) {
    if (!request->is_synthetic()) {
      Batch one;
      one.push_back(std::move(request));
      FinishBatch(std::move(one));
      continue;
    }
    // The model's answer to a filler is dropped.
    request->stream()->Send(nullptr, kResponseCompleteFinal).IgnoreError();
    request.reset();
  }
  EXPECT_THAT(PullNames(), ElementsAre("-", "-", "c2"));
}

TEST_F(SequenceSchedulerTest, ShapesTakeTurns) {
  Use(SequenceModel(4, 1));
  // The sequences a and c have one shape, b and d have shapes of their own; a's client sends ahead.
  for (int i = 1; i <= 3; ++i) Send("a" + std::to_string(i), 1, i == 1 ? kStart : 0, 3);
  Send("b1", 2, kStart, 5);
  Send("b2", 2, 0, 5);
  Send("c1", 3, kStart, 3);
  Send("d1", 4, kStart, 7);
  EXPECT_THAT(PullAndFinish(), ElementsAre("a1", "-", "c1", "-"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("-", "b1", "-", "-"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("-", "-", "-", "d1"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("a2", "-"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("-", "b2"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("a3"));
  EXPECT_TRUE(PullNames().empty());
}

TEST_F(SequenceSchedulerTest, SlotsThatNobodyUsesCostNothing) {
  // As many pointers as slots would not fit into memory.
  CompiledModel model = SequenceModel(4, 1);
  model.sequence.slots = UINT32_MAX;
  model.sequence.minimum_slot_utilization = 1.0f;
  model.sequence.max_queue_delay = milliseconds(5);
  Use(std::move(model));
  Send("a1", 1, kStart);
  Send("b1", 2, kStart);
  // Each of these looks whether a batch is due.
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(PullNames().empty());
  clock_.Advance(milliseconds(5));
  EXPECT_THAT(PullAndFinish(), ElementsAre("a1", "b1"));
}

TEST_F(SequenceSchedulerTest, WaitsForTheShareOfSlots) {
  CompiledModel model = SequenceModel(4, 1);
  model.sequence.minimum_slot_utilization = 0.5f;
  model.sequence.max_queue_delay = milliseconds(5);
  Use(std::move(model));
  Send("a1", 1, kStart);
  EXPECT_TRUE(PullNames().empty());
  Send("b1", 2, kStart);
  EXPECT_THAT(PullAndFinish(), ElementsAre("a1", "b1"));
  Send("b2", 2);
  clock_.Advance(milliseconds(4));
  EXPECT_TRUE(PullNames().empty());
  clock_.Advance(milliseconds(1));
  EXPECT_THAT(PullAndFinish(), ElementsAre("-", "b2"));
}

TEST_F(SequenceSchedulerTest, ADelayWithoutAShareIsNone) {
  CompiledModel model = SequenceModel(4, 1);
  model.sequence.max_queue_delay = seconds(5);
  Use(std::move(model));
  Send("a1", 1, kStart);
  EXPECT_THAT(PullAndFinish(), ElementsAre("a1"));
}

// ---- Oldest.

TEST_F(SequenceSchedulerTest, OldestWaitsForAPreferredSize) {
  CompiledModel model = SequenceModel(4, 1, /*oldest=*/true, /*candidates=*/8);
  model.batching.preferred_batch_sizes = {3};
  model.batching.max_queue_delay = milliseconds(5);
  Use(std::move(model));
  Send("a1", 1, kStart);
  Send("a2", 1);
  Send("b1", 2, kStart);
  EXPECT_TRUE(PullNames().empty());
  Send("c1", 3, kStart);
  EXPECT_THAT(PullAndFinish(), ElementsAre("a1", "b1", "c1"));
  EXPECT_TRUE(PullNames().empty());
  clock_.Advance(milliseconds(5));
  EXPECT_THAT(PullAndFinish(), ElementsAre("a2"));
}

TEST_F(SequenceSchedulerTest, OldestPreservesTheOrderOfResponses) {
  CompiledModel model = SequenceModel(4, 1, /*oldest=*/true, /*candidates=*/8);
  model.batching.preserve_ordering = true;
  Use(std::move(model));
  TestRequest& a = Send("a1", 1, kStart);
  TestRequest& b = Send("b1", 2, kStart);
  TestRequest& later = Send("b2", 2);
  EXPECT_THAT(PullNames(), ElementsAre("a1", "b1"));
  Batch second;
  second.push_back(std::move(running_[0][1]));
  running_[0].pop_back();
  FinishBatch(std::move(second));
  EXPECT_EQ(b.answer_count(), 0u);
  Finish();
  EXPECT_EQ(a.answer_count(), 1u);
  EXPECT_EQ(b.answer_count(), 1u);
  PullAndFinish();
  EXPECT_EQ(later.final_status(), absl::OkStatus());
}

// ---- Backlog.

TEST_F(SequenceSchedulerTest, TheBacklogGivesUpInTime) {
  Use(SequenceModel(1, 1));
  Send("a1", 1, kStart);
  TestRequest& b1 = Send("b1", 2, kStart);
  TestRequest& b2 = NewRequest("b2", CorrelationId(2));
  b2->set_timeout_us(1000);
  EXPECT_EQ(Issue(&b2), absl::OkStatus());
  TestRequest& c1 = Send("c1", 3, kStart);
  clock_.Advance(milliseconds(1));
  b1.WaitDone();
  b2.WaitDone();
  const absl::Status expired =
      absl::UnavailableError("timeout of the corresponding sequence has been expired");
  EXPECT_EQ(b1.final_status(), expired);
  EXPECT_EQ(b2.final_status(), expired);
  EXPECT_EQ(Failures(FailureReason::kRejected), 2u);
  EXPECT_EQ(c1.answer_count(), 0u);
  EXPECT_EQ(Refused(2).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(scheduler_->backlogged_sequences(), 1u);
}

TEST_F(SequenceSchedulerTest, TheNextOfTheBacklogTakesTheSlotWithAllItsRequests) {
  Use(SequenceModel(1, 1));
  Send("a1", 1, kStart);
  Send("b1", 2, kStart);
  Send("b2", 2);
  PullAndFinish();
  EXPECT_TRUE(PullNames().empty());
  clock_.Advance(seconds(1));  // sequence 1 is idle; 2 waits, but has requests
  const PulledBatch end = AwaitPull();
  EXPECT_THAT(end.names, ElementsAre("-"));
  EXPECT_THAT(end.end, ElementsAre(1));
  EXPECT_THAT(end.ready, ElementsAre(0));
  EXPECT_THAT(end.ids, ElementsAre(1));
  EXPECT_EQ(Refused(1).code(), absl::StatusCode::kInvalidArgument);
  Finish();
  EXPECT_THAT(PullAndFinish(), ElementsAre("b1"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("b2"));
  EXPECT_EQ(model_->statistics().Snapshot().pending, 0);
}

TEST_F(SequenceSchedulerTest, ASequenceWithWorkIsNotIdle) {
  Use(SequenceModel(1, 1));
  Send("a1", 1, kStart);
  PullNames();
  clock_.Advance(seconds(5));
  Finish();
  EXPECT_TRUE(scheduler_->HasSequence(CorrelationId(1)));
  clock_.Advance(milliseconds(999));
  Send("a2", 1, kEnd);
  EXPECT_THAT(PullAndFinish(), ElementsAre("a2"));
}

// ---- Cancellation.

TEST_F(SequenceSchedulerTest, ACancelledRequestEndsItsSequence) {
  for (const bool oldest : {false, true}) {
    Use(SequenceModel(1, 1, oldest));
    TestRequest& a1 = Send("a1", 1, kStart);
    EXPECT_THAT(PullNames(), ElementsAre("a1"));
    TestRequest& a2 = Send("a2", 1);
    TestRequest& a3 = Send("a3", 1, kEnd);
    EXPECT_EQ(a2->Cancel(), absl::OkStatus());
    EXPECT_EQ(a2.final_status(), absl::CancelledError(""));
    EXPECT_EQ(a3.final_status(), absl::CancelledError(""));
    EXPECT_EQ(a1.answer_count(), 0u);
    EXPECT_EQ(Failures(FailureReason::kCanceled), 2u);
    EXPECT_EQ(Refused(1).code(), absl::StatusCode::kInvalidArgument);
    Finish();
    // The model has seen the sequence, and is told of its end.
    EXPECT_THAT(Pull().end, ElementsAre(1));
    EXPECT_TRUE(running_[0][0]->is_synthetic());
    EXPECT_EQ(scheduler_->sequences_in_slots(), 1u);
    Finish();
    EXPECT_EQ(scheduler_->sequences_in_slots(), 0u);
    scheduler_->Shutdown();
  }
}

TEST_F(SequenceSchedulerTest, ASequenceThatTheModelHasNotSeenGoesAtOnce) {
  for (const bool oldest : {false, true}) {
    Use(SequenceModel(1, 1, oldest));
    TestRequest& a1 = Send("a1", 1, kStart);
    TestRequest& b1 = Send("b1", 2, kStart);
    Send("b2", 2);
    Send("c1", 3, kStart);
    EXPECT_EQ(b1->Cancel(), absl::OkStatus());  // in the backlog
    EXPECT_EQ(scheduler_->backlogged_sequences(), 1u);
    EXPECT_EQ(a1->Cancel(), absl::OkStatus());  // in the slot
    EXPECT_EQ(Failures(FailureReason::kCanceled), 3u);
    EXPECT_THAT(PullAndFinish(), ElementsAre("c1"));
    scheduler_->Shutdown();
  }
}

TEST_F(SequenceSchedulerTest, CancelledBeforeItIsQueuedOrWhileItIsExecuted) {
  Use(SequenceModel(1, 1));
  TestRequest& a1 = NewRequest("a1", CorrelationId(1), kStart);
  RequestPtr owned = a1.Issue();
  owned->stream()->Cancel();
  EXPECT_EQ(scheduler_->Enqueue(&owned), absl::OkStatus());
  EXPECT_EQ(a1.final_status(), absl::CancelledError(""));
  EXPECT_EQ(scheduler_->sequences_in_slots(), 0u);
  TestRequest& b1 = Send("b1", 2, kStart);
  PullNames();
  EXPECT_EQ(b1->Cancel(), absl::OkStatus());
  EXPECT_EQ(b1.answer_count(), 0u);
  Finish();
  EXPECT_EQ(b1.final_status(), absl::OkStatus());
  EXPECT_TRUE(scheduler_->HasSequence(CorrelationId(2)));
}

// ---- Iterative sequences.

TEST_F(SequenceSchedulerTest, IterativeRequestsComeBack) {
  for (const bool oldest : {false, true}) {
    UseIterative(1, oldest);
    TestRequest& first = Send("a", 0);
    TestRequest& other = Send("b", 0);
    EXPECT_EQ(scheduler_->backlogged_sequences(), 1u);
    PulledBatch pulled = Pull();
    EXPECT_THAT(pulled.names, ElementsAre("a"));
    EXPECT_THAT(pulled.ids, ElementsAre(1));
    EXPECT_THAT(pulled.start, ElementsAre(1));
    for (int i = 0; i < 3; ++i) {
      Reschedule();
      EXPECT_EQ(first.releases(), 0);
      pulled = Pull();
      EXPECT_THAT(pulled.names, ElementsAre("a"));
      EXPECT_THAT(pulled.ids, ElementsAre(1));
      EXPECT_THAT(pulled.start, ElementsAre(0));
    }
    Finish();
    EXPECT_EQ(first.releases(), 1);
    // The request is as its maker made it, and may be used again.
    EXPECT_FALSE(first->correlation_id().present());
    EXPECT_EQ(first->flags(), 0u);
    EXPECT_FALSE(scheduler_->HasSequence(CorrelationId(1)));
    // The other request has the slot now.
    pulled = Pull();
    EXPECT_THAT(pulled.names, ElementsAre("b"));
    EXPECT_THAT(pulled.ids, ElementsAre(2));
    Finish();
    EXPECT_EQ(other.final_status(), absl::OkStatus());
    EXPECT_EQ(scheduler_->sequences_in_slots(), 0u);
    EXPECT_EQ(model_->statistics().Snapshot().pending, 0);
    scheduler_->Shutdown();
  }
}

TEST_F(SequenceSchedulerTest, IterativeSequencesOfTheClient) {
  UseIterative(2);
  TestRequest& a1 = Send("a1", 9, kStart | kEnd);
  PulledBatch pulled = Pull();
  EXPECT_THAT(pulled.end, ElementsAre(1));
  Reschedule();
  pulled = Pull();
  EXPECT_THAT(pulled.end, ElementsAre(0));
  EXPECT_THAT(pulled.ids, ElementsAre(9));
  Finish();
  EXPECT_EQ(a1->flags(), kStart | kEnd);
  EXPECT_EQ(a1->correlation_id(), CorrelationId(9));
  EXPECT_EQ(scheduler_->sequences_in_slots(), 0u);
}

TEST_F(SequenceSchedulerTest, ACancelledIterativeRequestDoesNotComeBack) {
  UseIterative(1);
  TestRequest& a = Send("a", 0);
  PullNames();
  EXPECT_EQ(a->Cancel(), absl::OkStatus());
  Reschedule();
  // The backend's thread does not answer the request; the instance that pulls next does.
  EXPECT_EQ(a.answer_count(), 0u);
  EXPECT_TRUE(PullNames().empty());
  EXPECT_EQ(a.final_status(), absl::CancelledError(""));
  EXPECT_EQ(scheduler_->sequences_in_slots(), 0u);
}

// ---- The options for clients' tests.

TEST_F(SequenceSchedulerTest, HoldsBackUntilEnoughIsQueued) {
  Use(SequenceModel(2, 1), /*hold_until_queued=*/3, /*hold_until_backlogged=*/2);
  Send("a1", 1, kStart);
  Send("b1", 2, kStart);
  Send("a2", 1);
  EXPECT_TRUE(PullNames().empty());
  Send("c1", 3, kStart);
  EXPECT_TRUE(PullNames().empty());
  Send("c2", 3);
  EXPECT_THAT(PullAndFinish(), ElementsAre("a1", "b1"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("a2"));
}

}  // namespace
}  // namespace nereid
