// SPDX-License-Identifier: Apache-2.0
// The examples with which the documentation of sequence models explains the two strategies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduling/testing/sequence_fixture.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

class WorkedExamplesTest : public SequenceFixture {};

// Two instances with two slots each; every execution takes one tick.
TEST_F(WorkedExamplesTest, DirectSpreadsSequencesOverSlotsAndInstances) {
  Use(SequenceModel(2, 2));
  Send("0a", 100, kStart);
  Send("1a", 101, kStart | kEnd);
  Send("2a", 102, kStart);
  Send("3a", 103, kStart);
  Send("4a", 104, kStart);
  Send("5a", 105, kStart | kEnd);
  Send("0b", 100);
  Send("2b", 102, kEnd);
  Send("3b", 103);
  Send("4b", 104, kEnd);
  Send("0c", 100, kEnd);
  Send("3c", 103, kEnd);
  EXPECT_EQ(scheduler_->sequences_in_slots(), 4u);
  EXPECT_EQ(scheduler_->backlogged_sequences(), 2u);

  struct Tick {
    std::vector<std::string> names[2];
    std::vector<int32_t> start[2];
  };
  const Tick ticks[] = {
      {{{"0a", "2a"}, {"1a", "3a"}}, {{1, 1}, {1, 1}}},
      {{{"0b", "2b"}, {"4a", "3b"}}, {{0, 0}, {1, 0}}},
      {{{"0c", "5a"}, {"4b", "3c"}}, {{0, 1}, {0, 0}}},
  };
  const std::vector<int32_t> both = {1, 1};
  for (const Tick& tick : ticks) {
    for (uint32_t i = 0; i < 2; ++i) {
      const PulledBatch pulled = Pull(i);
      EXPECT_EQ(pulled.names, tick.names[i]);
      EXPECT_EQ(pulled.start, tick.start[i]);
      EXPECT_EQ(pulled.ready, both);
    }
    Finish(0);
    Finish(1);
  }
  EXPECT_EQ(scheduler_->sequences_in_slots(), 0u);
  EXPECT_EQ(scheduler_->backlogged_sequences(), 0u);
  for (const auto& request : requests_) EXPECT_EQ(request->final_status(), absl::OkStatus());
}

// The batch ends with the last slot that is ready. `two` adds zeros for the slots behind it.
TEST_F(WorkedExamplesTest, DirectTellsTheModelWhichSlotsAreReady) {
  Use(SequenceModel(2, 1));
  const auto two = [](std::vector<int32_t> values) {
    values.resize(2);
    return values;
  };
  Send("0a", 100, kStart);
  PulledBatch pulled = Pull();
  EXPECT_THAT(two(pulled.start), ElementsAre(1, 0));
  EXPECT_THAT(two(pulled.ready), ElementsAre(1, 0));
  Finish();
  EXPECT_TRUE(PullNames().empty());
  Send("0b", 100);
  Send("1a", 101, kStart);
  pulled = Pull();
  EXPECT_THAT(pulled.names, ElementsAre("0b", "1a"));
  EXPECT_THAT(pulled.start, ElementsAre(0, 1));
  EXPECT_THAT(pulled.ready, ElementsAre(1, 1));
  Finish();
  // Now slot 0 is the gap.
  Send("1b", 101);
  pulled = Pull();
  EXPECT_THAT(pulled.names, ElementsAre("-", "1b"));
  EXPECT_THAT(pulled.start, ElementsAre(0, 0));
  EXPECT_THAT(pulled.ready, ElementsAre(0, 1));
  EXPECT_THAT(pulled.ids, ElementsAre(0, 101));
}

TEST_F(WorkedExamplesTest, OldestTakesTheOldestOfEachSequence) {
  Use(SequenceModel(2, 1, /*oldest=*/true, /*candidates=*/4));
  const uint64_t a = 1, b = 2, c = 3, d = 4;
  Send("A1", a, kStart);
  Send("B1", b, kStart);
  Send("C1", c, kStart);
  Send("D1", d, kStart);
  Send("A2", a);
  Send("B2", b, kEnd);
  Send("C2", c);
  Send("D2", d);
  Send("A3", a, kEnd);
  Send("C3", c, kEnd);
  Send("D3", d);
  Send("D4", d, kEnd);
  EXPECT_THAT(PullAndFinish(), ElementsAre("A1", "B1"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("C1", "D1"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("A2", "B2"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("C2", "D2"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("A3", "C3"));
  EXPECT_THAT(PullAndFinish(), ElementsAre("D3"));
  const PulledBatch last = Pull();
  EXPECT_THAT(last.names, ElementsAre("D4"));
  EXPECT_THAT(last.end, ElementsAre(1));
  EXPECT_THAT(last.ids, ElementsAre(d));
  Finish();
  EXPECT_TRUE(PullNames().empty());
  EXPECT_EQ(scheduler_->sequences_in_slots(), 0u);
}

}  // namespace
}  // namespace nereid
