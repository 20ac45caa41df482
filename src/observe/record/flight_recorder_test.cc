// SPDX-License-Identifier: Apache-2.0
#include "observe/record/flight_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

FlightRecord Flight(const std::string& id, uint16_t instance, uint64_t sent) {
  FlightRecord record;
  record.id.Set(id);
  record.instance = instance;
  record.request_start = 1;
  record.sent = sent;
  return record;
}

std::vector<std::string> Ids(const std::vector<FlightRecord>& records) {
  std::vector<std::string> ids;
  for (const FlightRecord& record : records) ids.emplace_back(record.id.text());
  return ids;
}

TEST(FlightRecorderTest, AllInstancesTogetherNewestFirst) {
  FlightRecorder recorder(3, 4);
  recorder.Record(Flight("a", 1, 10));
  recorder.Record(Flight("b", 2, 12));
  recorder.Record(Flight("c", 1, 11));
  recorder.Record(Flight("d", 0, 9));
  EXPECT_THAT(Ids(recorder.Flights(0, 100)), ElementsAre("b", "c", "a", "d"));
  EXPECT_THAT(Ids(recorder.Flights(10, 100)), ElementsAre("b", "c"));
  EXPECT_THAT(Ids(recorder.Flights(0, 2)), ElementsAre("b", "c"));
}

TEST(FlightRecorderTest, ABusyInstanceForgetsOnlyItsOwn) {
  FlightRecorder recorder(3, 4);
  recorder.Record(Flight("idle", 2, 1));
  for (uint64_t i = 0; i < 10; ++i) recorder.Record(Flight(std::to_string(i), 1, 10 + i));
  EXPECT_THAT(Ids(recorder.Flights(0, 100)), ElementsAre("9", "8", "7", "6", "idle"));
}

TEST(FlightRecorderTest, EveryRunningInstanceHasAShardForItself) {
  FlightRecorder recorder(2, 4);  // one instance at first
  std::vector<FlightRecorder::Lease> leases;
  std::set<uint16_t> shards;
  for (int i = 0; i < 40; ++i) {
    leases.push_back(recorder.TakeShard("i" + std::to_string(i)));
    const uint16_t shard = leases.back().shard();
    EXPECT_TRUE(shards.insert(shard).second) << i;
    EXPECT_EQ(recorder.NextBatch(shard), 1u);
    FlightRecord flight = Flight(std::to_string(i), shard, 100 - static_cast<uint64_t>(i));
    recorder.Record(flight);
  }
  EXPECT_EQ(*shards.begin(), 1);
  EXPECT_EQ(*shards.rbegin(), 40);
  EXPECT_EQ(recorder.Flights(0, 100).size(), 40u);
  EXPECT_EQ(recorder.InstanceName(7), "i6");
  leases.pop_back();
  EXPECT_EQ(recorder.Flights(0, 100).size(), 40u) << "the records of a former instance stay";
  EXPECT_TRUE(recorder.Instances()[39].gone);
  const FlightRecorder::Lease again = recorder.TakeShard("i39");
  EXPECT_EQ(again.shard(), 40) << "it comes back to its shard";
  EXPECT_EQ(recorder.NextBatch(40), 2u);
}

TEST(FlightRecorderTest, ShardsOfFormerInstancesAreNotKeptForEver) {
  FlightRecorder recorder(2, 1);
  std::set<uint16_t> shards;
  for (int i = 0; i < 1000; ++i) {
    shards.insert(recorder.TakeShard("i" + std::to_string(i)).shard());
  }
  EXPECT_EQ(shards.size(), 64u);
}

TEST(FlightRecorderTest, NothingIsLentWhereNothingIsRecorded) {
  FlightRecorder recorder(2, 0);
  const FlightRecorder::Lease lease = recorder.TakeShard("i");
  EXPECT_EQ(lease.shard(), 0);
  EXPECT_THAT(recorder.Instances(), IsEmpty());
}

TEST(FlightRecordTest, LongIdsAreCut) {
  const std::string longer(60, 'x');
  const FlightRecord cut = Flight(longer, 0, 1);
  EXPECT_TRUE(cut.id.cut());
  EXPECT_EQ(cut.id.text(), longer.substr(0, 38));
  EXPECT_TRUE(cut.id.Matches(longer));
  EXPECT_FALSE(cut.id.Matches(longer.substr(0, 38)));
  EXPECT_FALSE(cut.id.Matches(std::string(60, 'y')));
  const FlightRecord whole = Flight(longer.substr(0, 38), 0, 1);
  EXPECT_FALSE(whole.id.cut());
  EXPECT_TRUE(whole.id.Matches(longer.substr(0, 38)));
  EXPECT_FALSE(whole.id.Matches(longer));
  EXPECT_TRUE(Flight("", 0, 1).id.Matches(""));
  EXPECT_FALSE(Flight("", 0, 1).id.Matches("a"));
}

TEST(FlightRecorderTest, BatchesAreNumberedByInstance) {
  FlightRecorder recorder(3, 4);
  EXPECT_EQ(recorder.NextBatch(1), 1u);
  EXPECT_EQ(recorder.NextBatch(1), 2u);
  EXPECT_EQ(recorder.NextBatch(2), 1u);
  BatchRecord batch;
  batch.instance = 1;
  batch.number = 2;
  batch.exec_end = 5;
  recorder.Record(batch);
  EXPECT_THAT(recorder.Batches(5, 10), IsEmpty());
  ASSERT_EQ(recorder.Batches(4, 10).size(), 1u);
  EXPECT_EQ(recorder.Batches(4, 10)[0].number, 2u);
}

TEST(FlightRecorderTest, IsFollowed) {
  FlightRecorder recorder(3, 4);
  RecordCursor cursor;
  std::vector<uint64_t> sent;
  std::vector<uint64_t> batches;
  const auto follow = [&] {
    recorder.Follow(
        &cursor, [&](const FlightRecord& flight) { sent.push_back(flight.sent); },
        [&](const BatchRecord& batch) { batches.push_back(batch.number); });
  };
  recorder.Record(Flight("a", 1, 10));
  recorder.Record(Flight("b", 2, 5));
  follow();
  recorder.Record(Flight("c", 1, 12));
  BatchRecord batch;
  batch.instance = 2;
  batch.number = 7;
  recorder.Record(batch);
  follow();
  EXPECT_THAT(sent, ElementsAre(10, 5, 12));
  EXPECT_THAT(batches, ElementsAre(7));
  EXPECT_EQ(cursor.lost, 0u);
}

TEST(FlightRecorderTest, SwitchedOff) {
  FlightRecorder recorder(3, 0);
  EXPECT_FALSE(recorder.enabled());
  recorder.Record(Flight("a", 1, 10));
  EXPECT_EQ(recorder.NextBatch(1), 0u);
  EXPECT_THAT(recorder.Flights(0, 100), IsEmpty());
}

}  // namespace
}  // namespace nereid
