// SPDX-License-Identifier: Apache-2.0
// ModelStatistics: what one loaded model version has done. Thread-safe; recording takes no lock.
//
// Counters are sharded: each instance records into its own shard and a snapshot adds them up. The
// model's own shard (kModelShard) takes events that no instance saw. All durations are nanoseconds
// of the steady clock. Statistics live as long as the model version and start at zero on a reload.
#ifndef NEREID_OBSERVE_STATS_MODEL_STATISTICS_H_
#define NEREID_OBSERVE_STATS_MODEL_STATISTICS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/export.h"
#include "base/mutex.h"
#include "observe/stats/latencies.h"

namespace nereid {

// Why a request failed; the `reason` label of nv_inference_request_failure.
enum class FailureReason : int { kRejected = 0, kCanceled = 1, kBackend = 2, kOther = 3 };
inline constexpr int kFailureReasonCount = 4;

struct StatDuration {
  uint64_t count = 0;
  uint64_t ns = 0;
};

struct BatchStatistics {
  StatDuration compute_input, compute_infer, compute_output;
};

// Number of distinct batch sizes beyond the model's largest that are counted individually.
inline constexpr size_t kOddBatchSizes = 1024;

// Statistics are kept per index of a response within its request (docs/reference/statistics.md
// section 2). Responses beyond kResponseIndexes count as the last index, so that a long stream does
// not use ever more memory.
inline constexpr uint64_t kResponseIndexes = 1024;
struct ResponseStatistics {
  StatDuration compute_infer, compute_output, success, fail, empty_response, cancel;
};

// A copy that is consistent enough: each number is exact, but numbers recorded during the copy may
// or may not be included.
struct StatisticsSnapshot {
  uint64_t last_inference_ms = 0;  // since the Unix epoch, 0 if none
  uint64_t inference_count = 0;
  uint64_t execution_count = 0;
  StatDuration success, fail, queue, compute_input, compute_infer, compute_output, cache_hit,
      cache_miss;
  std::array<uint64_t, kFailureReasonCount> failures{};
  int64_t pending = 0;
  std::map<uint64_t, BatchStatistics> batches;       // by batch size
  std::map<uint64_t, ResponseStatistics> responses;  // by response index
};

// Timestamps of one successfully executed request, steady-clock nanoseconds.
struct SuccessTimes {
  uint64_t request_start, queue_start, exec_start, compute_start, compute_end, exec_end;
  uint64_t request_end;  // when the success is reported
};

// How one request was executed, as its backend reports it.
struct ExecutionReport {
  int shard;  // of the instance
  bool success;
  uint64_t batch_size;  // of the request; 0 counts as 1
  SuccessTimes times;   // of a failure, only the start and the end of the request count
};

// Timestamps of one request that was answered from the response cache, steady-clock nanoseconds.
struct CacheHitTimes {
  uint64_t request_start, queue_start, lookup_start, lookup_end;
  uint64_t request_end;  // when the hit is reported
};

enum class ResponseOutcome { kSuccess, kEmpty, kCancelled, kFailed };

class NEREID_API ModelStatistics {
 public:
  static constexpr int kModelShard = 0;

  // `shards`: 1 + number of instances. Batch sizes up to `max_batch_size` (at least 1), but not
  // above a thousand or so, are counted without a lock.
  ModelStatistics(int shards, uint32_t max_batch_size, LatencyOptions latencies = {});
  ~ModelStatistics();

  // One request answered by a backend. `batch_size`: batch size of the request; 0 counts as 1.
  void RecordSuccess(int shard, uint64_t batch_size, const SuccessTimes& times);
  // A success or a failure (FailureReason::kBackend).
  void Record(const ExecutionReport& report);
  // One request answered from the response cache: a success, and no execution.
  void RecordCacheHit(const CacheHitTimes& times);
  // One response stored in the cache. `duration_ns`: the look-up that missed plus the insertion. It
  // is part of the duration of the requests, too. `now_ns`: of the steady clock.
  void RecordCacheMiss(uint64_t now_ns, uint64_t duration_ns);
  // `duration_ns`: from request start to failure.
  void RecordFailure(int shard, FailureReason reason, uint64_t duration_ns);
  // One execution of a batch of `batch_size` elements in total.
  void RecordBatch(int shard, uint64_t batch_size, uint64_t exec_start, uint64_t compute_start,
                   uint64_t compute_end, uint64_t exec_end, uint64_t wall_ms);
  // An instance was busy for that long.
  void RecordBusy(int shard, uint64_t ns);
  // One response; `output_start` is 0 if there was no output phase.
  void RecordResponse(uint64_t index, ResponseOutcome outcome, uint64_t start,
                      uint64_t output_start, uint64_t end) ABSL_LOCKS_EXCLUDED(mu_);
  // The first response of a request. `duration_ns`: since the request's start. REQUIRES: called
  // only if latencies().counts_first_responses().
  void RecordFirstResponse(uint64_t duration_ns) { latencies_.OnFirstResponse(duration_ns); }
  // A request entered (+1) or left (-1) the queue.
  void AddPending(int64_t delta) { pending_.fetch_add(delta, std::memory_order_relaxed); }

  StatisticsSnapshot Snapshot() const ABSL_LOCKS_EXCLUDED(mu_);
  // Time that the instances were busy, all together, without executions under way.
  uint64_t busy_ns() const;
  const Latencies& latencies() const { return latencies_; }

 private:
  struct Shard;
  std::vector<std::unique_ptr<Shard>> shards_;  // constant after construction
  const uint64_t max_batch_size_;               // the largest one counted in the shards
  Latencies latencies_;
  std::atomic<int64_t> pending_{0};
  std::atomic<uint64_t> last_inference_ms_{0};
  mutable Mutex mu_;
  // Batch sizes beyond max_batch_size_ (a model without batching whose backend reports others).
  std::map<uint64_t, BatchStatistics> odd_batches_ ABSL_GUARDED_BY(mu_);
  std::map<uint64_t, ResponseStatistics> responses_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_STATS_MODEL_STATISTICS_H_
