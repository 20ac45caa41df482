// SPDX-License-Identifier: Apache-2.0
// What is recorded of the requests and batches of a SequenceScheduler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "scheduling/testing/recorded.h"
#include "scheduling/testing/sequence_fixture.h"

namespace nereid {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;

class RecordedSequencesTest : public SequenceFixture {
 protected:
  int64_t Micros(const std::string& id, Phase phase) { return RecordedMicros(*model_, id, phase); }
  // -1: none is recorded.
  int SlotOf(const std::string& id) { return RecordedFlight(*model_, id).sequence_slot - 1; }
};

TEST_F(RecordedSequencesTest, DirectSlots) {
  Use(SequenceModel(/*max_batch=*/2, /*instances=*/1));
  Send("a", 1, kStart);
  clock_.Advance(microseconds(3));
  EXPECT_THAT(PullNames(), ElementsAre("a"));
  clock_.Advance(microseconds(50));
  Finish();
  EXPECT_THAT(RecordedBatches(*model_), ElementsAre("sequence_slots:1"));
  EXPECT_EQ(Micros("a", Phase::kQueue), 3);
  EXPECT_EQ(Micros("a", Phase::kSequenceSlot), 0);
  EXPECT_EQ(RecordedFlight(*model_, "a").sequence, 1u);
}

TEST_F(RecordedSequencesTest, TheWaitForASlotIsToldFromTheWaitForTheInstance) {
  Use(SequenceModel(/*max_batch=*/1, /*instances=*/1));
  Send("a", 1, kStart | kEnd);
  Send("b", 2, kStart | kEnd);
  EXPECT_THAT(PullNames(), ElementsAre("a"));
  clock_.Advance(microseconds(80));
  Finish();  // the slot is free
  clock_.Advance(microseconds(7));
  EXPECT_THAT(PullAndFinish(), ElementsAre("b"));
  EXPECT_EQ(Micros("b", Phase::kSequenceSlot), 80);
  EXPECT_EQ(Micros("b", Phase::kQueue), 7);
  EXPECT_EQ(LatencyOf(RecordedFlight(*model_, "b")), 87'000u);
}

// The slots of two instances are given out in turn; a slot that its sequence has left is the next
// one's.
TEST_F(RecordedSequencesTest, SlotsAreThoseOfTheirSequences) {
  Use(SequenceModel(/*max_batch=*/2, /*instances=*/2));
  Send("a", 11, kStart);
  Send("b", 12, kStart | kEnd);
  Send("c", 13, kStart);
  Send("d", 14, kStart);
  EXPECT_THAT(PullAndFinish(0), ElementsAre("a", "c"));
  EXPECT_THAT(PullAndFinish(1), ElementsAre("b", "d"));
  Send("e", 15, kStart);
  Send("d2", 14);
  EXPECT_THAT(PullAndFinish(1), ElementsAre("e", "d2"));
  EXPECT_EQ(SlotOf("a"), 0);
  EXPECT_EQ(SlotOf("b"), 0);
  EXPECT_EQ(SlotOf("c"), 1);
  EXPECT_EQ(SlotOf("d"), 1);
  EXPECT_EQ(SlotOf("e"), 0);
  EXPECT_EQ(SlotOf("d2"), 1);
  EXPECT_EQ(RecordedFlight(*model_, "d2").sequence, 14u);
}

TEST_F(RecordedSequencesTest, OneThatWaitedHasTheSlotOfTheOneBefore) {
  Use(SequenceModel(/*max_batch=*/2, /*instances=*/1));
  Send("a", 1, kStart);
  Send("b", 2, kStart | kEnd);
  Send("c", 3, kStart);
  PullAndFinish();
  EXPECT_THAT(PullAndFinish(), ElementsAre("-", "c"));
  EXPECT_EQ(SlotOf("c"), 1);
}

// With Oldest a slot is a place among the candidates, and not one in the batch.
TEST_F(RecordedSequencesTest, SlotsOfOldest) {
  Use(SequenceModel(/*max_batch=*/4, /*instances=*/1, /*oldest=*/true, /*candidates=*/4));
  Send("a", 1, kStart);
  Send("b", 2, kStart);
  EXPECT_THAT(PullAndFinish(), ElementsAre("a", "b"));
  Send("b2", 2);
  EXPECT_THAT(PullAndFinish(), ElementsAre("b2"));
  EXPECT_EQ(SlotOf("a"), 0);
  EXPECT_EQ(SlotOf("b2"), 1);
}

TEST_F(RecordedSequencesTest, ARequestThatNeverHadASlot) {
  Use(SequenceModel(/*max_batch=*/1, /*instances=*/1));
  Send("a", 1, kStart);
  Send("b", 2, kStart);
  scheduler_->Shutdown();
  EXPECT_EQ(SlotOf("b"), -1);
  EXPECT_EQ(RecordedFlight(*model_, "b").sequence, 2u);
}

TEST_F(RecordedSequencesTest, GapsAreNoRequests) {
  Use(SequenceModel(/*max_batch=*/2, /*instances=*/1));
  Send("a", 1, kStart);
  Send("b", 2, kStart);
  PullAndFinish();
  Send("c", 2);
  EXPECT_THAT(PullAndFinish(), ElementsAre("-", "c"));
  EXPECT_EQ(model_->recorder().Flights(0, 10).size(), 3u);
  const BatchRecord last = model_->recorder().Batches(0, 10).at(0);
  EXPECT_EQ(last.number, 2u);
  EXPECT_EQ(last.requests, 1u);
  EXPECT_EQ(last.fillers, 1u);
}

TEST_F(RecordedSequencesTest, Oldest) {
  Use(SequenceModel(/*max_batch=*/4, /*instances=*/1, /*oldest=*/true, /*candidates=*/4));
  Send("a", 1, kStart);
  clock_.Advance(microseconds(11));
  Send("b", 2, kStart);
  clock_.Advance(microseconds(4));
  EXPECT_THAT(PullAndFinish(), ElementsAre("a", "b"));
  EXPECT_THAT(RecordedBatches(*model_), ElementsAre("idle_instance:2"));
  EXPECT_EQ(Micros("a", Phase::kQueue), 15);
  EXPECT_EQ(Micros("b", Phase::kQueue), 4);
}

}  // namespace
}  // namespace nereid
