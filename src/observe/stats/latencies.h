// SPDX-License-Identifier: Apache-2.0
// Latencies: how the durations of one model version's requests are distributed, as far as the
// metrics page shows it. Thread-safe; recording takes no lock. Owned by ModelStatistics.
//
// Histograms are sharded like the counters beside them. Summaries and first responses, which are
// rarer or have to be asked for, are counted once for the model. What nobody asked for does not
// exist.
#ifndef NEREID_OBSERVE_STATS_LATENCIES_H_
#define NEREID_OBSERVE_STATS_LATENCIES_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "observe/stats/duration_histogram.h"
#include "observe/stats/sliding_quantiles.h"

namespace nereid {

struct LatencyOptions {
  bool histograms = false;                // of requests and their parts, in seconds
  bool summaries = false;                 // quantiles of the last minute
  std::vector<double> quantiles;          // those of the summaries
  bool cached = false;                    // the model uses the response cache
  uint64_t target_ns = 0;                 // from the queue to the end of the execution; 0: none
  bool decoupled = false;                 // first responses have a histogram in seconds, too
  std::vector<double> first_response_ms;  // bounds of their histogram in ms; empty: there is none
};

// The parts of a request's life that have a histogram.
enum class TimedPart : size_t { kRequest, kQueue, kCompute };
inline constexpr size_t kTimedParts = 3;

// What has a summary.
enum class Summarized : size_t {
  kRequest,
  kQueue,
  kComputeInput,
  kComputeInfer,
  kComputeOutput,
  kCacheHit,
  kCacheMiss
};
inline constexpr size_t kSummarized = 7;

// The parts of one executed request, in nanoseconds.
struct ExecutedTimes {
  uint64_t request, queue, compute_input, compute_infer, compute_output;
};

class Latencies {
 public:
  Latencies(size_t shards, LatencyOptions options);

  // `now_ns` is a time of the steady clock, the other numbers are nanoseconds.
  void OnExecuted(size_t shard, uint64_t now_ns, const ExecutedTimes& times) {
    if (histograms_ != nullptr) {
      Parts& parts = histograms_[shard].parts;
      Part(&parts, TimedPart::kRequest).Observe(times.request);
      Part(&parts, TimedPart::kQueue).Observe(times.queue);
      Part(&parts, TimedPart::kCompute)
          .Observe(times.compute_input + times.compute_infer + times.compute_output);
    }
    if (options_.summaries) SummarizeExecuted(now_ns, times);
    if (target_ != nullptr) CompareWithTarget(now_ns, times);
  }
  void OnCacheHit(size_t shard, uint64_t now_ns, uint64_t request, uint64_t queue,
                  uint64_t look_up);
  void OnCacheMiss(uint64_t now_ns, uint64_t took);
  // Whether OnFirstResponse has to be called.
  bool counts_first_responses() const { return first_response_ != nullptr || first_ms_ != nullptr; }
  void OnFirstResponse(uint64_t took);

  // ---- Reports.
  const LatencyOptions& options() const { return options_; }
  bool has_histograms() const { return histograms_ != nullptr; }
  DurationCounts counts(TimedPart part) const;
  // Null where there is no such summary.
  const SlidingQuantiles* summary(Summarized what) const {
    return summaries_[static_cast<size_t>(what)].get();
  }
  // Of first responses: null where they are not counted.
  struct FirstResponses {
    DurationHistogram histogram;
    std::atomic<uint64_t> ns{0};
  };
  const FirstResponses* first_responses() const { return first_response_.get(); }
  // How requests compare with the target; null without one.
  struct Target {
    // A number that autoscalers use should follow the load sooner than a summary.
    static constexpr uint64_t kSliceNs = 6'000'000'000;
    SlidingQuantiles micros{kSliceNs};
    std::atomic<uint64_t> missed{0};
  };
  const Target* target() const { return target_.get(); }
  const ValueHistogram* first_responses_ms() const { return first_ms_.get(); }

 private:
  using Parts = std::array<DurationHistogram, kTimedParts>;
  // A shard has its own cache lines.
  struct alignas(64) Shard {
    Parts parts;
  };

  static DurationHistogram& Part(Parts* parts, TimedPart part) {
    return (*parts)[static_cast<size_t>(part)];
  }
  void CompareWithTarget(uint64_t now_ns, const ExecutedTimes& times);
  void SummarizeExecuted(uint64_t now_ns, const ExecutedTimes& times);
  // Summaries are in microseconds.
  void Summarize(Summarized what, uint64_t now_ns, uint64_t ns) {
    SlidingQuantiles* const summary = summaries_[static_cast<size_t>(what)].get();
    if (summary != nullptr) summary->Observe(now_ns, ns / 1000);
  }

  const LatencyOptions options_;
  const size_t shards_;
  // All constant after construction.
  std::unique_ptr<Shard[]> histograms_;
  std::array<std::unique_ptr<SlidingQuantiles>, kSummarized> summaries_;
  std::unique_ptr<Target> target_;
  std::unique_ptr<FirstResponses> first_response_;
  std::unique_ptr<ValueHistogram> first_ms_;
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_STATS_LATENCIES_H_
