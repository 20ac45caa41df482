// SPDX-License-Identifier: Apache-2.0
// The parts of the sequence scheduler that decide: slot table, backlog, reaper.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduling/sequence/sequence_tables.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kAny = [](uint32_t) { return true; };

TimePoint At(int64_t ns) { return TimePoint(Duration(ns)); }

TEST(SlotTableTest, LowestSlotFirstThenLowestInstance) {
  SlotTable table(2, 2);
  EXPECT_EQ(table.capacity(), 4u);
  std::vector<std::pair<uint32_t, uint32_t>> given;  // instance, slot
  std::vector<SlotLease> leases;
  while (const std::optional<SlotLease> lease = table.Take(kAny)) {
    given.push_back({lease->instance, lease->slot});
    leases.push_back(*lease);
  }
  EXPECT_THAT(given,
              ElementsAre(std::pair(0, 0), std::pair(1, 0), std::pair(0, 1), std::pair(1, 1)));
  EXPECT_EQ(table.in_use(), 4u);
  EXPECT_TRUE(table.Free(leases[3]));
  EXPECT_TRUE(table.Free(leases[1]));
  EXPECT_EQ(table.in_use(), 2u);
  const SlotLease next = *table.Take(kAny);
  EXPECT_EQ(next.instance, 1u);
  EXPECT_EQ(next.slot, 0u);
}

TEST(SlotTableTest, ALeaseThatEndedFreesNothing) {
  SlotTable table(1, 1);
  const SlotLease first = *table.Take(kAny);
  EXPECT_TRUE(table.Free(first));
  const SlotLease second = *table.Take(kAny);
  EXPECT_NE(first, second);
  EXPECT_FALSE(table.Free(first));
  EXPECT_TRUE(table.Holds(second));
  EXPECT_FALSE(table.Free(SlotLease{7, 0, 1}));
}

TEST(SlotTableTest, OnlyInstancesThatGive) {
  SlotTable table(3, 2);
  const auto gives = [](uint32_t instance) { return instance == 1; };
  EXPECT_EQ(table.Take(gives)->slot, 0u);
  const SlotLease second = *table.Take(gives);
  EXPECT_EQ(second.instance, 1u);
  EXPECT_EQ(second.slot, 1u);
  EXPECT_EQ(table.Take(gives), std::nullopt);
  EXPECT_EQ(table.in_use(), 2u);
  EXPECT_EQ(table.Take(kAny)->instance, 0u);
  EXPECT_EQ(table.Take(kAny)->instance, 2u);
  EXPECT_TRUE(table.Free(second));
  EXPECT_EQ(table.Take(gives)->slot, 1u);
}

TEST(SlotTableTest, ManySlotsCostNothingBeforeTheyAreUsed) {
  SlotTable table(8, 1u << 31);
  EXPECT_EQ(table.capacity(), uint64_t{8} << 31);
  EXPECT_EQ(table.Take(kAny)->instance, 0u);
  EXPECT_EQ(table.Take(kAny)->instance, 1u);
}

TEST(BacklogTest, FirstComeFirstServed) {
  Backlog backlog;
  EXPECT_EQ(backlog.PopFront(), std::nullopt);
  backlog.Add(5, TimePoint::max());
  backlog.Add(3, TimePoint::max());
  backlog.Add(5, TimePoint::max());
  EXPECT_EQ(backlog.sequences(), 2u);
  EXPECT_EQ(backlog.requests(), 3u);
  EXPECT_EQ(backlog.earliest_deadline(), std::nullopt);
  EXPECT_EQ(backlog.PopFront(), 5u);
  EXPECT_EQ(backlog.requests(), 1u);
  EXPECT_TRUE(backlog.Remove(3));
  EXPECT_FALSE(backlog.Remove(3));
  EXPECT_TRUE(backlog.empty());
}

TEST(BacklogTest, TheEarliestDeadlineOfASequenceCounts) {
  Backlog backlog;
  backlog.Add(1, TimePoint::max());
  backlog.Add(2, At(50));
  backlog.Add(1, At(40));
  backlog.Add(1, At(90));
  backlog.Add(3, At(60));
  EXPECT_EQ(backlog.earliest_deadline(), At(40));
  EXPECT_EQ(backlog.FirstExpired(At(39)), std::nullopt);
  for (const uint64_t number : {1, 2}) {
    EXPECT_EQ(backlog.FirstExpired(At(50)), number);
    EXPECT_TRUE(backlog.Remove(number));
  }
  EXPECT_EQ(backlog.FirstExpired(At(50)), std::nullopt);
  EXPECT_EQ(backlog.requests(), 1u);
  EXPECT_EQ(backlog.earliest_deadline(), At(60));
}

TEST(IdleReaperTest, TellsWhoIsIdle) {
  IdleReaper reaper(Duration(10));
  EXPECT_EQ(reaper.next(), std::nullopt);
  reaper.Watch(1, At(0));
  reaper.Watch(2, At(5));
  reaper.Watch(3, At(6));
  EXPECT_EQ(reaper.next(), At(10));
  reaper.Watch(1, At(7));  // sequence 1 had a request meanwhile
  EXPECT_TRUE(reaper.Forget(3));
  EXPECT_FALSE(reaper.Forget(3));
  EXPECT_EQ(reaper.FirstIdle(At(14)), std::nullopt);
  for (const uint64_t number : {2, 1}) {
    EXPECT_EQ(reaper.FirstIdle(At(17)), number);
    EXPECT_TRUE(reaper.Forget(number));
  }
  EXPECT_EQ(reaper.FirstIdle(At(17)), std::nullopt);
  EXPECT_EQ(reaper.watched(), 0u);
}

}  // namespace
}  // namespace nereid
