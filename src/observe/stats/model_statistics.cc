// SPDX-License-Identifier: Apache-2.0
#include "observe/stats/model_statistics.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace nereid {
namespace {

// Batch sizes up to here have counters of their own in every shard. A model may allow far larger
// batches (max_batch_size is any int32); memory for all those sizes is not allocated in advance.
constexpr uint32_t kMaxShardedBatchSize = 1024;

// Backends may report wrong timestamps: a negative duration counts as zero.
uint64_t Between(uint64_t start, uint64_t end) { return end > start ? end - start : 0; }

void AddTo(const BatchStatistics& from, BatchStatistics* to) {
  to->compute_input.count += from.compute_input.count;
  to->compute_input.ns += from.compute_input.ns;
  to->compute_infer.count += from.compute_infer.count;
  to->compute_infer.ns += from.compute_infer.ns;
  to->compute_output.count += from.compute_output.count;
  to->compute_output.ns += from.compute_output.ns;
}

void Add(uint64_t ns, StatDuration* duration) {
  ++duration->count;
  duration->ns += ns;
}
void Add(uint64_t count, const std::atomic<uint64_t>& ns, StatDuration* total) {
  total->count += count;
  total->ns += ns.load(std::memory_order_relaxed);
}

}  // namespace

// A shard usually has a single writer, so each shard has its own cache lines.
struct alignas(64) ModelStatistics::Shard {
  // A duration counter that many threads add to.
  struct AtomicDuration {
    std::atomic<uint64_t> count{0};
    std::atomic<uint64_t> ns{0};

    void Add(uint64_t duration_ns) {
      count.fetch_add(1, std::memory_order_relaxed);
      ns.fetch_add(duration_ns, std::memory_order_relaxed);
    }
    void AddTo(StatDuration* total) const {
      total->count += count.load(std::memory_order_relaxed);
      total->ns += ns.load(std::memory_order_relaxed);
    }
  };

  struct AtomicBatch {
    AtomicDuration compute_input, compute_infer, compute_output;
  };

  explicit Shard(uint64_t max_batch_size) : batches(max_batch_size + 1) {}

  std::atomic<uint64_t> inference_count{0};
  std::atomic<uint64_t> execution_count{0};
  std::atomic<uint64_t> busy_ns{0};
  // The number of durations of each of the five kinds that a backend reports for a request. Counted
  // once: an addition to an atomic number is what recording costs.
  std::atomic<uint64_t> executed{0};
  // Nanoseconds, those of cache hits included.
  std::atomic<uint64_t> success_ns{0}, queue_ns{0};
  std::atomic<uint64_t> compute_input_ns{0}, compute_infer_ns{0}, compute_output_ns{0};
  AtomicDuration fail, cache_hit, cache_miss;
  std::array<std::atomic<uint64_t>, kFailureReasonCount> failures{};
  std::vector<AtomicBatch> batches;  // by batch size
};

ModelStatistics::ModelStatistics(int shards, uint32_t max_batch_size, LatencyOptions latencies)
    : max_batch_size_(std::clamp<uint32_t>(max_batch_size, 1, kMaxShardedBatchSize)),
      latencies_(static_cast<size_t>(shards), std::move(latencies)) {
  for (int i = 0; i < shards; ++i) shards_.push_back(std::make_unique<Shard>(max_batch_size_));
}

ModelStatistics::~ModelStatistics() = default;

void ModelStatistics::RecordSuccess(int shard, uint64_t batch_size, const SuccessTimes& times) {
  Shard& s = *shards_[static_cast<size_t>(shard)];
  const ExecutedTimes took = {
      Between(times.request_start, times.request_end), Between(times.queue_start, times.exec_start),
      Between(times.exec_start, times.compute_start),
      Between(times.compute_start, times.compute_end), Between(times.compute_end, times.exec_end)};
  s.inference_count.fetch_add(std::max<uint64_t>(1, batch_size), std::memory_order_relaxed);
  s.executed.fetch_add(1, std::memory_order_relaxed);
  s.success_ns.fetch_add(took.request, std::memory_order_relaxed);
  s.queue_ns.fetch_add(took.queue, std::memory_order_relaxed);
  s.compute_input_ns.fetch_add(took.compute_input, std::memory_order_relaxed);
  s.compute_infer_ns.fetch_add(took.compute_infer, std::memory_order_relaxed);
  s.compute_output_ns.fetch_add(took.compute_output, std::memory_order_relaxed);
  latencies_.OnExecuted(static_cast<size_t>(shard), times.request_end, took);
}

void ModelStatistics::Record(const ExecutionReport& report) {
  if (report.success) {
    RecordSuccess(report.shard, report.batch_size, report.times);
  } else {
    RecordFailure(report.shard, FailureReason::kBackend,
                  Between(report.times.request_start, report.times.request_end));
  }
}

void ModelStatistics::RecordCacheHit(const CacheHitTimes& times) {
  Shard& s = *shards_[kModelShard];
  const uint64_t request = Between(times.request_start, times.request_end);
  const uint64_t queue = Between(times.queue_start, times.lookup_start);
  const uint64_t look_up = Between(times.lookup_start, times.lookup_end);
  s.success_ns.fetch_add(request, std::memory_order_relaxed);
  s.queue_ns.fetch_add(queue, std::memory_order_relaxed);
  s.cache_hit.Add(look_up);
  latencies_.OnCacheHit(kModelShard, times.request_end, request, queue, look_up);
}

void ModelStatistics::RecordCacheMiss(uint64_t now_ns, uint64_t duration_ns) {
  Shard& s = *shards_[kModelShard];
  s.cache_miss.Add(duration_ns);
  s.success_ns.fetch_add(duration_ns, std::memory_order_relaxed);
  latencies_.OnCacheMiss(now_ns, duration_ns);
}

void ModelStatistics::RecordFailure(int shard, FailureReason reason, uint64_t duration_ns) {
  Shard& s = *shards_[static_cast<size_t>(shard)];
  s.fail.Add(duration_ns);
  s.failures[static_cast<size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
}

void ModelStatistics::RecordBatch(int shard, uint64_t batch_size, uint64_t exec_start,
                                  uint64_t compute_start, uint64_t compute_end, uint64_t exec_end,
                                  uint64_t wall_ms) {
  Shard& s = *shards_[static_cast<size_t>(shard)];
  s.execution_count.fetch_add(1, std::memory_order_relaxed);
  uint64_t last = last_inference_ms_.load(std::memory_order_relaxed);
  while (last < wall_ms && !last_inference_ms_.compare_exchange_weak(last, wall_ms)) {
  }
  const uint64_t input = Between(exec_start, compute_start);
  const uint64_t infer = Between(compute_start, compute_end);
  const uint64_t output = Between(compute_end, exec_end);
  const uint64_t size = std::max<uint64_t>(1, batch_size);
  if (size <= max_batch_size_) {
    Shard::AtomicBatch& batch = s.batches[size];
    batch.compute_input.Add(input);
    batch.compute_infer.Add(infer);
    batch.compute_output.Add(output);
    return;
  }
  MutexLock lock(&mu_);
  // Once there are many sizes, only powers of two are distinguished, because a client's input may
  // determine the sizes.
  const bool told_apart = odd_batches_.size() < kOddBatchSizes || odd_batches_.contains(size);
  BatchStatistics& batch = odd_batches_[told_apart ? size : std::bit_floor(size)];
  Add(input, &batch.compute_input);
  Add(infer, &batch.compute_infer);
  Add(output, &batch.compute_output);
}

void ModelStatistics::RecordBusy(int shard, uint64_t ns) {
  shards_[static_cast<size_t>(shard)]->busy_ns.fetch_add(ns, std::memory_order_relaxed);
}

uint64_t ModelStatistics::busy_ns() const {
  uint64_t sum = 0;
  for (const auto& shard : shards_) sum += shard->busy_ns.load(std::memory_order_acquire);
  return sum;
}

void ModelStatistics::RecordResponse(uint64_t index, ResponseOutcome outcome, uint64_t start,
                                     uint64_t output_start, uint64_t end) {
  const uint64_t total = Between(start, end);
  MutexLock lock(&mu_);
  ResponseStatistics& stats = responses_[std::min(index, kResponseIndexes - 1)];
  switch (outcome) {
    case ResponseOutcome::kSuccess:
      Add(Between(start, output_start), &stats.compute_infer);
      Add(Between(output_start, end), &stats.compute_output);
      Add(total, &stats.success);
      return;
    case ResponseOutcome::kEmpty:
      Add(total, &stats.compute_infer);
      Add(total, &stats.empty_response);
      return;
    case ResponseOutcome::kCancelled:
      Add(total, &stats.cancel);
      return;
    case ResponseOutcome::kFailed:
      Add(output_start > 0 ? Between(start, output_start) : total, &stats.compute_infer);
      if (output_start > 0 && end > output_start) {
        Add(end - output_start, &stats.compute_output);
      }
      Add(total, &stats.fail);
      return;
  }
}

StatisticsSnapshot ModelStatistics::Snapshot() const {
  StatisticsSnapshot snapshot;
  snapshot.last_inference_ms = last_inference_ms_.load(std::memory_order_relaxed);
  snapshot.pending = pending_.load(std::memory_order_relaxed);
  for (const auto& shard : shards_) {
    snapshot.inference_count += shard->inference_count.load(std::memory_order_relaxed);
    snapshot.execution_count += shard->execution_count.load(std::memory_order_relaxed);
    // Read once for several numbers: requests end meanwhile, but the counts of success, queue and
    // computing in one answer have to belong together.
    const uint64_t executed = shard->executed.load(std::memory_order_relaxed);
    const uint64_t hits = shard->cache_hit.count.load(std::memory_order_relaxed);
    Add(executed + hits, shard->success_ns, &snapshot.success);
    Add(executed + hits, shard->queue_ns, &snapshot.queue);
    Add(executed, shard->compute_input_ns, &snapshot.compute_input);
    Add(executed, shard->compute_infer_ns, &snapshot.compute_infer);
    Add(executed, shard->compute_output_ns, &snapshot.compute_output);
    shard->fail.AddTo(&snapshot.fail);
    shard->cache_hit.AddTo(&snapshot.cache_hit);
    shard->cache_miss.AddTo(&snapshot.cache_miss);
    for (size_t i = 0; i < snapshot.failures.size(); ++i) {
      snapshot.failures[i] += shard->failures[i].load(std::memory_order_relaxed);
    }
    for (size_t size = 1; size < shard->batches.size(); ++size) {
      const Shard::AtomicBatch& batch = shard->batches[size];
      if (batch.compute_infer.count.load(std::memory_order_relaxed) == 0) continue;
      BatchStatistics& total = snapshot.batches[size];
      batch.compute_input.AddTo(&total.compute_input);
      batch.compute_infer.AddTo(&total.compute_infer);
      batch.compute_output.AddTo(&total.compute_output);
    }
  }
  MutexLock lock(&mu_);
  for (const auto& [size, batch] : odd_batches_) AddTo(batch, &snapshot.batches[size]);
  snapshot.responses = responses_;
  return snapshot;
}

}  // namespace nereid
