// SPDX-License-Identifier: Apache-2.0
#include "observe/stats/latencies.h"

#include <utility>

namespace nereid {
namespace {

constexpr uint64_t kNanosPerMilli = 1'000'000;

// A request of a model with a cache has no summary, as in Triton: what the cache adds to it
// is known only after it has been answered.
bool HasSummary(Summarized what, const LatencyOptions& options) {
  switch (what) {
    case Summarized::kRequest:
      return !options.cached;
    case Summarized::kCacheHit:
    case Summarized::kCacheMiss:
      return options.cached;
    default:
      return true;
  }
}

}  // namespace

Latencies::Latencies(size_t shards, LatencyOptions options)
    : options_(std::move(options)), shards_(shards) {
  if (options_.histograms) {
    histograms_ = std::make_unique<Shard[]>(shards);
    if (options_.decoupled) first_response_ = std::make_unique<FirstResponses>();
  }
  if (!options_.first_response_ms.empty()) {
    first_ms_ = std::make_unique<ValueHistogram>(options_.first_response_ms);
  }
  if (options_.target_ns > 0) target_ = std::make_unique<Target>();
  for (size_t i = 0; options_.summaries && i < kSummarized; ++i) {
    if (HasSummary(static_cast<Summarized>(i), options_)) {
      summaries_[i] = std::make_unique<SlidingQuantiles>();
    }
  }
}

void Latencies::SummarizeExecuted(uint64_t now_ns, const ExecutedTimes& times) {
  Summarize(Summarized::kRequest, now_ns, times.request);
  Summarize(Summarized::kQueue, now_ns, times.queue);
  Summarize(Summarized::kComputeInput, now_ns, times.compute_input);
  Summarize(Summarized::kComputeInfer, now_ns, times.compute_infer);
  Summarize(Summarized::kComputeOutput, now_ns, times.compute_output);
}

void Latencies::CompareWithTarget(uint64_t now_ns, const ExecutedTimes& times) {
  const uint64_t took =
      times.queue + times.compute_input + times.compute_infer + times.compute_output;
  target_->micros.Observe(now_ns, took / 1000);
  if (took > options_.target_ns) target_->missed.fetch_add(1, std::memory_order_relaxed);
}

void Latencies::OnCacheHit(size_t shard, uint64_t now_ns, uint64_t request, uint64_t queue,
                           uint64_t look_up) {
  if (histograms_ != nullptr) {
    Parts& parts = histograms_[shard].parts;
    Part(&parts, TimedPart::kRequest).Observe(request);
    Part(&parts, TimedPart::kQueue).Observe(queue);
  }
  Summarize(Summarized::kQueue, now_ns, queue);
  Summarize(Summarized::kCacheHit, now_ns, look_up);
}

void Latencies::OnCacheMiss(uint64_t now_ns, uint64_t took) {
  Summarize(Summarized::kCacheMiss, now_ns, took);
}

void Latencies::OnFirstResponse(uint64_t took) {
  if (first_response_ != nullptr) {
    first_response_->histogram.Observe(took);
    first_response_->ns.fetch_add(took, std::memory_order_relaxed);
  }
  if (first_ms_ != nullptr) first_ms_->Observe(took / kNanosPerMilli);
}

DurationCounts Latencies::counts(TimedPart part) const {
  DurationCounts counts{};
  for (size_t i = 0; i < shards_ && histograms_ != nullptr; ++i) {
    histograms_[i].parts[static_cast<size_t>(part)].AddTo(&counts);
  }
  return counts;
}

}  // namespace nereid
