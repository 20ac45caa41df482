// SPDX-License-Identifier: Apache-2.0
#include "observe/stats/model_statistics.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace nereid {

bool operator==(const StatDuration& a, const StatDuration& b) {
  return a.count == b.count && a.ns == b.ns;
}
std::ostream& operator<<(std::ostream& out, const StatDuration& d) {
  return out << d.count << " times, " << d.ns << " ns";
}

namespace {

using Duration = StatDuration;

constexpr SuccessTimes kTimes = {
    /*request_start=*/100, /*queue_start=*/110, /*exec_start=*/150,
    /*compute_start=*/155, /*compute_end=*/175, /*exec_end=*/182,
    /*request_end=*/190};

// ---- Requests

TEST(ModelStatisticsTest, BeginAtZero) {
  const StatisticsSnapshot s = ModelStatistics(1, 4).Snapshot();
  EXPECT_EQ(s.inference_count, 0u);
  EXPECT_EQ(s.execution_count, 0u);
  EXPECT_EQ(s.last_inference_ms, 0u);
  EXPECT_EQ(s.pending, 0);
  EXPECT_EQ(s.success, Duration());
  EXPECT_TRUE(s.batches.empty());
  EXPECT_TRUE(s.responses.empty());
}

TEST(ModelStatisticsTest, ASuccessIsSplitIntoItsPhases) {
  ModelStatistics statistics(1, 4);
  statistics.RecordSuccess(0, 3, kTimes);
  const StatisticsSnapshot s = statistics.Snapshot();
  EXPECT_EQ(s.inference_count, 3u);
  EXPECT_EQ(s.execution_count, 0u) << "an execution is counted by its batch";
  EXPECT_EQ(s.success, (Duration{1, 90}));
  EXPECT_EQ(s.queue, (Duration{1, 40}));
  EXPECT_EQ(s.compute_input, (Duration{1, 5}));
  EXPECT_EQ(s.compute_infer, (Duration{1, 20}));
  EXPECT_EQ(s.compute_output, (Duration{1, 7}));
  EXPECT_EQ(s.fail, Duration());
}

TEST(ModelStatisticsTest, ACacheHitIsASuccessWithoutAnExecution) {
  ModelStatistics statistics(2, 4);
  CacheHitTimes times = {/*request_start=*/100, /*queue_start=*/110, /*lookup_start=*/115,
                         /*lookup_end=*/145, /*request_end=*/150};
  statistics.RecordCacheHit(times);
  const StatisticsSnapshot s = statistics.Snapshot();
  EXPECT_EQ(s.success, (Duration{1, 50}));
  EXPECT_EQ(s.queue, (Duration{1, 5}));
  EXPECT_EQ(s.cache_hit, (Duration{1, 30}));
  EXPECT_EQ(s.cache_miss, Duration());
  EXPECT_EQ(s.compute_infer, Duration());
  EXPECT_EQ(s.inference_count, 0u);
  EXPECT_EQ(s.execution_count, 0u);
}

TEST(ModelStatisticsTest, ACacheMissLengthensTheRequestsThatSucceeded) {
  ModelStatistics statistics(2, 4);
  statistics.RecordSuccess(1, 1, kTimes);
  statistics.RecordCacheMiss(500, 25);
  const StatisticsSnapshot s = statistics.Snapshot();
  EXPECT_EQ(s.success, (Duration{1, 90 + 25}));
  EXPECT_EQ(s.cache_miss, (Duration{1, 25}));
  EXPECT_EQ(s.cache_hit, Duration());
}

TEST(ModelStatisticsTest, ARequestWithoutBatchDimensionCountsAsOne) {
  ModelStatistics statistics(1, 4);
  statistics.RecordSuccess(0, 0, kTimes);
  EXPECT_EQ(statistics.Snapshot().inference_count, 1u);
}

TEST(ModelStatisticsTest, TimesThatGoBackwardsAreNoTimeAtAll) {
  ModelStatistics statistics(1, 4);
  statistics.RecordSuccess(0, 1, {200, 190, 180, 170, 160, 150, 140});
  const StatisticsSnapshot s = statistics.Snapshot();
  for (const Duration& d :
       {s.success, s.queue, s.compute_input, s.compute_infer, s.compute_output}) {
    EXPECT_EQ(d, (Duration{1, 0}));
  }
}

TEST(ModelStatisticsTest, BusyTimesOfAllInstancesAddUp) {
  ModelStatistics statistics(3, 4);
  statistics.RecordBusy(1, 5);
  statistics.RecordBusy(2, 6);
  statistics.RecordBusy(2, 7);
  EXPECT_EQ(statistics.busy_ns(), 18u);
}

TEST(ModelStatisticsTest, FailuresAreCountedByReason) {
  ModelStatistics statistics(2, 4);
  statistics.RecordFailure(0, FailureReason::kRejected, 5);
  statistics.RecordFailure(1, FailureReason::kBackend, 7);
  statistics.RecordFailure(1, FailureReason::kBackend, 9);
  const StatisticsSnapshot s = statistics.Snapshot();
  EXPECT_EQ(s.fail, (Duration{3, 21}));
  EXPECT_EQ(s.failures, (std::array<uint64_t, kFailureReasonCount>{1, 0, 2, 0}));
  EXPECT_EQ(s.success, Duration());
}

TEST(ModelStatisticsTest, PendingGoesUpAndDown) {
  ModelStatistics statistics(1, 4);
  statistics.AddPending(1);
  statistics.AddPending(1);
  statistics.AddPending(-1);
  EXPECT_EQ(statistics.Snapshot().pending, 1);
}

// ---- Batches

TEST(ModelStatisticsTest, BatchesAreCountedBySize) {
  ModelStatistics statistics(3, 8);
  statistics.RecordBatch(1, 4, 10, 20, 40, 70, 1000);
  statistics.RecordBatch(2, 4, 10, 20, 40, 70, 2000);
  statistics.RecordBatch(1, 1, 10, 11, 12, 13, 1500);
  const StatisticsSnapshot s = statistics.Snapshot();
  EXPECT_EQ(s.execution_count, 3u);
  EXPECT_EQ(s.last_inference_ms, 2000u) << "the latest, not the last one reported";
  ASSERT_EQ(s.batches.size(), 2u);
  EXPECT_EQ(s.batches.at(4).compute_input, (Duration{2, 20}));
  EXPECT_EQ(s.batches.at(4).compute_infer, (Duration{2, 40}));
  EXPECT_EQ(s.batches.at(4).compute_output, (Duration{2, 60}));
  EXPECT_EQ(s.batches.at(1).compute_infer, (Duration{1, 1}));
}

TEST(ModelStatisticsTest, BatchesLargerThanTheModelAllowsAreCountedToo) {
  ModelStatistics statistics(2, 1);
  statistics.RecordBatch(1, 5, 10, 20, 40, 70, 1000);
  statistics.RecordBatch(1, 5, 10, 20, 40, 70, 1000);
  statistics.RecordBatch(1, 0, 10, 20, 40, 70, 1000);
  const StatisticsSnapshot s = statistics.Snapshot();
  ASSERT_EQ(s.batches.size(), 2u);
  EXPECT_EQ(s.batches.at(5).compute_infer, (Duration{2, 40}));
  EXPECT_EQ(s.batches.at(1).compute_infer, (Duration{1, 20})) << "0 counts as 1";
}

TEST(ModelStatisticsTest, ManyBatchSizesAreCountedByPowersOfTwo) {
  ModelStatistics statistics(1, 1);
  for (uint64_t size = 2; size < 100'000; ++size) statistics.RecordBatch(0, size, 0, 1, 2, 3, 0);
  const StatisticsSnapshot s = statistics.Snapshot();
  EXPECT_LE(s.batches.size(), kOddBatchSizes + 64);
  EXPECT_EQ(s.batches.at(2).compute_infer.count, 1u);
  EXPECT_EQ(s.batches.at(32768).compute_infer.count, 32768u);
  uint64_t all = 0;
  for (const auto& [size, batch] : s.batches) all += batch.compute_infer.count;
  EXPECT_EQ(all, 99'998u);
}

// ---- Responses: docs/reference/statistics.md section 2

TEST(ModelStatisticsTest, ResponsesAreCountedByIndex) {
  ModelStatistics statistics(1, 1);
  statistics.RecordResponse(0, ResponseOutcome::kSuccess, 10, 30, 35);
  statistics.RecordResponse(1, ResponseOutcome::kSuccess, 10, 30, 35);
  statistics.RecordResponse(0, ResponseOutcome::kSuccess, 10, 20, 22);
  const StatisticsSnapshot s = statistics.Snapshot();
  ASSERT_EQ(s.responses.size(), 2u);
  EXPECT_EQ(s.responses.at(0).compute_infer, (Duration{2, 30}));
  EXPECT_EQ(s.responses.at(0).compute_output, (Duration{2, 7}));
  EXPECT_EQ(s.responses.at(0).success, (Duration{2, 37}));
  EXPECT_EQ(s.responses.at(1).success, (Duration{1, 25}));
}

TEST(ModelStatisticsTest, LateResponsesOfALongStreamAreOneEntry) {
  ModelStatistics statistics(1, 1);
  for (uint64_t index = 0; index < 5000; ++index) {
    statistics.RecordResponse(index, ResponseOutcome::kSuccess, 10, 30, 35);
  }
  const StatisticsSnapshot s = statistics.Snapshot();
  ASSERT_EQ(s.responses.size(), 1024u);
  EXPECT_EQ(s.responses.at(1022).success, (Duration{1, 25}));
  EXPECT_EQ(s.responses.at(1023).success, (Duration{5000 - 1023, 25 * (5000 - 1023)}));
}

TEST(ModelStatisticsTest, AnEmptyResponseHasNoOutputPhase) {
  ModelStatistics statistics(1, 1);
  statistics.RecordResponse(0, ResponseOutcome::kEmpty, 10, 0, 35);
  const ResponseStatistics r = statistics.Snapshot().responses.at(0);
  EXPECT_EQ(r.compute_infer, (Duration{1, 25}));
  EXPECT_EQ(r.empty_response, (Duration{1, 25}));
  EXPECT_EQ(r.compute_output, Duration());
  EXPECT_EQ(r.success, Duration());
}

TEST(ModelStatisticsTest, ACancelledResponseIsThatAndNothingElse) {
  ModelStatistics statistics(1, 1);
  statistics.RecordResponse(0, ResponseOutcome::kCancelled, 10, 20, 35);
  const ResponseStatistics r = statistics.Snapshot().responses.at(0);
  EXPECT_EQ(r.cancel, (Duration{1, 25}));
  EXPECT_EQ(r.compute_infer, Duration());
  EXPECT_EQ(r.fail, Duration());
}

TEST(ModelStatisticsTest, AFailedResponseCountsThePhasesThatTookPlace) {
  ModelStatistics statistics(1, 1);
  statistics.RecordResponse(0, ResponseOutcome::kFailed, 10, 30, 35);
  statistics.RecordResponse(1, ResponseOutcome::kFailed, 10, 0, 35);
  statistics.RecordResponse(2, ResponseOutcome::kFailed, 10, 35, 35);
  const StatisticsSnapshot s = statistics.Snapshot();
  EXPECT_EQ(s.responses.at(0).compute_infer, (Duration{1, 20}));
  EXPECT_EQ(s.responses.at(0).compute_output, (Duration{1, 5}));
  EXPECT_EQ(s.responses.at(0).fail, (Duration{1, 25}));
  EXPECT_EQ(s.responses.at(1).compute_infer, (Duration{1, 25}));
  EXPECT_EQ(s.responses.at(1).compute_output, Duration());
  EXPECT_EQ(s.responses.at(1).fail, (Duration{1, 25}));
  EXPECT_EQ(s.responses.at(2).compute_output, Duration()) << "no time, no output phase";
}

// ---- Threads

TEST(ModelStatisticsTest, NothingIsLostBetweenThreads) {
  constexpr int kThreads = 4, kRounds = 2000;
  ModelStatistics statistics(3, 4);  // fewer shards than threads: two of them share one
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const int shard = t % 3;
      for (int i = 0; i < kRounds; ++i) {
        statistics.AddPending(1);
        statistics.RecordSuccess(shard, 2, kTimes);
        statistics.RecordFailure(shard, FailureReason::kOther, 1);
        statistics.RecordBatch(shard, 1 + i % 6, 0, 1, 2, 3, static_cast<uint64_t>(i));
        statistics.RecordResponse(0, ResponseOutcome::kSuccess, 0, 1, 2);
        statistics.AddPending(-1);
        if (i % 100 == 0) statistics.Snapshot();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const StatisticsSnapshot s = statistics.Snapshot();
  constexpr uint64_t kAll = uint64_t{kThreads} * kRounds;
  EXPECT_EQ(s.inference_count, 2 * kAll);
  EXPECT_EQ(s.execution_count, kAll);
  EXPECT_EQ(s.success, (Duration{kAll, 90 * kAll}));
  EXPECT_EQ(s.failures[3], kAll);
  EXPECT_EQ(s.pending, 0);
  EXPECT_EQ(s.last_inference_ms, uint64_t{kRounds - 1});
  EXPECT_EQ(s.responses.at(0).success.count, kAll);
  uint64_t batches = 0;
  for (const auto& [size, batch] : s.batches) batches += batch.compute_infer.count;
  EXPECT_EQ(batches, kAll);
}

}  // namespace
}  // namespace nereid
