// SPDX-License-Identifier: Apache-2.0
// SequenceScheduler with instances that leave new sequences to others for a while.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "scheduling/testing/sequence_fixture.h"

namespace nereid {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class YieldingInstance final : public BatchExecutor {
 public:
  Duration Execute(Batch) override { return Duration(0); }
  bool yields() const override { return leaves_work; }

  std::atomic<bool> leaves_work{false};
};

// Two instances with as many slots each as the test asks for. The parameter: Oldest or Direct.
class YieldingSequencesTest : public SequenceFixture, public ::testing::WithParamInterface<bool> {
 protected:
  void UseSlots(uint32_t slots) {
    Use(SequenceModel(static_cast<int32_t>(slots), 2, GetParam(), slots));
    instances_.resize(2);
    for (uint32_t i = 0; i < 2; ++i) {
      std::optional<TimePoint> wake_at;
      ASSERT_EQ(scheduler_->source(i)->PullNow(&instances_[i], std::nullopt, &wake_at),
                std::nullopt);
    }
  }
  void Yield(uint32_t i, bool yields = true) {
    instances_[i].leaves_work = yields;
    scheduler_->Nudge();
  }
  // The names that instance `i` takes, without those of fillers.
  std::vector<std::string> Take(uint32_t i) {
    std::vector<std::string> names = PullAndFinish(i);
    std::erase(names, "-");
    return names;
  }

  std::deque<YieldingInstance> instances_;
};

TEST_P(YieldingSequencesTest, NewSequencesGoToTheOther) {
  UseSlots(2);
  Yield(0);
  Send("a", 1, kStart);
  Send("b", 2, kStart);
  EXPECT_THAT(Take(0), IsEmpty());
  EXPECT_THAT(Take(1), ElementsAre("a", "b"));
}

TEST_P(YieldingSequencesTest, ItsOwnSequencesStay) {
  UseSlots(2);
  Send("a1", 1, kStart);
  EXPECT_THAT(Take(0), ElementsAre("a1"));
  Yield(0);
  Send("a2", 1, kEnd);
  Send("b1", 2, kStart);
  EXPECT_THAT(Take(0), ElementsAre("a2"));
  EXPECT_THAT(Take(1), ElementsAre("b1"));
}

TEST_P(YieldingSequencesTest, ASequenceWaitsForASlotOfTheOther) {
  UseSlots(1);
  Yield(0);
  Send("a", 1, kStart | kEnd);
  Send("b", 2, kStart | kEnd);
  EXPECT_EQ(scheduler_->backlogged_sequences(), 1u);
  EXPECT_THAT(Take(0), IsEmpty());
  EXPECT_THAT(Take(1), ElementsAre("a"));
  EXPECT_THAT(Take(1), ElementsAre("b"));
}

TEST_P(YieldingSequencesTest, ASlotThatIsFreedThereGoesToNobody) {
  UseSlots(1);
  Send("a", 1, kStart | kEnd);
  Send("b", 2, kStart);
  Send("c", 3, kStart);
  EXPECT_EQ(scheduler_->backlogged_sequences(), 1u);
  Yield(0);
  EXPECT_THAT(Take(0), ElementsAre("a"));
  EXPECT_EQ(scheduler_->backlogged_sequences(), 1u);
  EXPECT_THAT(Take(0), IsEmpty());
}

TEST_P(YieldingSequencesTest, OneThatYieldsNoMoreGetsThoseThatWait) {
  UseSlots(1);
  Yield(0);
  Send("a", 1, kStart);
  Send("b", 2, kStart);
  Send("c", 3, kStart);
  clock_.Advance(milliseconds(3));
  Yield(0, false);
  EXPECT_THAT(Take(0), ElementsAre("b"));
  EXPECT_EQ(scheduler_->backlogged_sequences(), 1u) << "c comes after b";
}

// Otherwise the backlog's timeout would be lost.
TEST_P(YieldingSequencesTest, TheTimeoutOfOneThatWaitsCounts) {
  UseSlots(1);
  Yield(0);
  Send("a", 1, kStart);
  TestRequest& b = NewRequest("b", CorrelationId(2), kStart);
  b->set_timeout_us(5000);
  ASSERT_EQ(Issue(&b), absl::OkStatus());
  clock_.Advance(milliseconds(6));
  b.WaitDone();
  EXPECT_EQ(b.final_status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(scheduler_->backlogged_sequences(), 0u);
}

TEST_P(YieldingSequencesTest, AfterShutdownNobodyIsAsked) {
  UseSlots(1);
  Yield(0);
  Send("a", 1, kStart | kEnd);
  TestRequest& b = Send("b", 2, kStart);
  EXPECT_THAT(PullNames(1), ElementsAre("a"));
  scheduler_->Shutdown();
  EXPECT_EQ(b.final_status().code(), absl::StatusCode::kUnavailable);
  instances_.clear();
  Finish(1);
  scheduler_->Nudge();
  EXPECT_EQ(scheduler_->live_sequences(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Strategies, YieldingSequencesTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Oldest" : "Direct"; });

}  // namespace
}  // namespace nereid
