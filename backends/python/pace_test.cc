// SPDX-License-Identifier: Apache-2.0
#include "backends/python/pace.h"

#include <gtest/gtest.h>

namespace nereid_backend {
namespace {

constexpr uint64_t kMicro = 1000;

Pace After(int executions, uint64_t took_ns) {
  Pace pace;
  for (int i = 0; i < executions; ++i) pace.Note(took_ns);
  return pace;
}

TEST(PaceTest, GivesExecutionsAloneUntilTheyAreKnownToBeShort) {
  EXPECT_EQ(Pace().most(), 1u);
  EXPECT_GT(After(50, 20 * kMicro).most(), 1u);
}

TEST(PaceTest, GivesAsManyAsEndInTime) {
  EXPECT_EQ(After(100, 20 * kMicro).most(), Pace::kMost);
  EXPECT_EQ(After(100, 120 * kMicro).most(), 4u);
  EXPECT_EQ(After(100, 300 * kMicro).most(), 1u);
  EXPECT_EQ(After(100, 10'000 * kMicro).most(), 1u);
}

TEST(PaceTest, OneLongExecutionIsEnoughToGiveThemAlone) {
  Pace pace = After(100, 20 * kMicro);
  pace.Note(10'000 * kMicro);
  EXPECT_EQ(pace.most(), 1u);
}

TEST(PaceTest, ExecutionsOfAnotherKindAreGivenAlone) {
  Pace pace = After(100, 20 * kMicro);
  pace.NoteAlone();
  EXPECT_EQ(pace.most(), 1u);
}

TEST(PaceTest, AnInterruptionIsSoonForgotten) {
  Pace pace = After(100, 20 * kMicro);
  pace.Note(2000 * kMicro);
  for (int i = 0; i < 20; ++i) pace.Note(20 * kMicro);
  EXPECT_GE(pace.most(), 6u);
}

TEST(PaceTest, ExecutionsThatTakeNoTimeComeToAnEnd) {
  EXPECT_EQ(After(1000, 0).most(), Pace::kMost);
}

}  // namespace
}  // namespace nereid_backend
