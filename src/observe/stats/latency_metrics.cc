// SPDX-License-Identifier: Apache-2.0
// ReportLatencies of statistics_metrics.h.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "observe/stats/statistics_metrics.h"

namespace nereid {
namespace {

constexpr double kNanosPerSecond = 1e9;

struct ShownPart {
  MetricFamily family;
  TimedPart part;
  uint64_t (*sum_ns)(const StatisticsSnapshot&);
};

constexpr ShownPart kParts[] = {
    {{"nereid_request_duration_seconds", MetricKind::kHistogram,
      "Time from the start of a successful request to its report (includes cached requests)",
      MetricSection::kRequests},
     TimedPart::kRequest,
     // What the cache took after the answer was counted is in no bucket.
     [](const StatisticsSnapshot& s) {
       return s.success.ns - std::min(s.success.ns, s.cache_miss.ns);
     }},
    {{"nereid_queue_duration_seconds", MetricKind::kHistogram,
      "Time that a successful request waited in the queue (includes cached requests)",
      MetricSection::kRequests},
     TimedPart::kQueue,
     [](const StatisticsSnapshot& s) { return s.queue.ns; }},
    {{"nereid_compute_duration_seconds", MetricKind::kHistogram,
      "Time that the execution of a successful request took (does not include cached requests)",
      MetricSection::kRequests},
     TimedPart::kCompute,
     [](const StatisticsSnapshot& s) {
       return s.compute_input.ns + s.compute_infer.ns + s.compute_output.ns;
     }},
};

constexpr MetricFamily kFirstResponse = {
    "nereid_first_response_duration_seconds", MetricKind::kHistogram,
    "Time from the start of a request of a decoupled model to its first response",
    MetricSection::kRequests};

constexpr MetricFamily kFirstResponseMillis = {
    "nv_inference_first_response_histogram_ms", MetricKind::kHistogram,
    "Duration from request to first response in milliseconds", MetricSection::kRequests};

constexpr MetricFamily kPressure = {
    "nereid_target_pressure", MetricKind::kGauge,
    "99th percentile of the time from queue to end of execution over the last half minute, as a "
    "multiple of the model's target; 0 without requests",
    MetricSection::kBatching};
constexpr MetricFamily kMissed = {
    "nereid_target_missed_count", MetricKind::kCounter,
    "Number of requests that took longer than the model's target from queue to end of execution",
    MetricSection::kBatching};

struct ShownSummary {
  MetricFamily family;
  const StatDuration StatisticsSnapshot::*total;
};

// By Summarized.
constexpr ShownSummary kSummaries[] = {
    {{"nv_inference_request_summary_us", MetricKind::kSummary,
      "Summary of inference request duration in microseconds (includes cached requests)",
      MetricSection::kRequests},
     &StatisticsSnapshot::success},
    {{"nv_inference_queue_summary_us", MetricKind::kSummary,
      "Summary of inference queuing duration in microseconds (includes cached requests)",
      MetricSection::kRequests},
     &StatisticsSnapshot::queue},
    {{"nv_inference_compute_input_summary_us", MetricKind::kSummary,
      "Cumulative compute input duration in microseconds (does not include cached requests)",
      MetricSection::kRequests},
     &StatisticsSnapshot::compute_input},
    {{"nv_inference_compute_infer_summary_us", MetricKind::kSummary,
      "Cumulative compute inference duration in microseconds (does not include cached requests)",
      MetricSection::kRequests},
     &StatisticsSnapshot::compute_infer},
    {{"nv_inference_compute_output_summary_us", MetricKind::kSummary,
      "Cumulative inference compute output duration in microseconds (does not include cached "
      "requests)",
      MetricSection::kRequests},
     &StatisticsSnapshot::compute_output},
    {{"nv_cache_hit_summary_per_model", MetricKind::kSummary,
      "Summary of cache hit counts/durations per model, in microseconds.", MetricSection::kCache},
     &StatisticsSnapshot::cache_hit},
    {{"nv_cache_miss_summary_per_model", MetricKind::kSummary,
      "Summary of cache miss counts/durations per model, in microseconds.", MetricSection::kCache},
     &StatisticsSnapshot::cache_miss},
};
static_assert(std::size(kSummaries) == kSummarized);

void ReportDurations(const MetricFamily& family, const DurationCounts& counts, uint64_t sum_ns,
                     MetricSink* sink) {
  std::array<double, kDurationBounds.size()> bounds;
  for (size_t i = 0; i < bounds.size(); ++i) {
    bounds[i] = static_cast<double>(kDurationBounds[i]) / kNanosPerSecond;
  }
  sink->Report(family,
               HistogramNumbers{bounds, counts, static_cast<double>(sum_ns) / kNanosPerSecond});
}

void ReportHistograms(const Latencies& latencies, const StatisticsSnapshot& statistics,
                      MetricSink* sink) {
  for (const ShownPart& shown : kParts) {
    ReportDurations(shown.family, latencies.counts(shown.part), shown.sum_ns(statistics), sink);
  }
  if (const auto* const first = latencies.first_responses()) {
    DurationCounts counts{};
    first->histogram.AddTo(&counts);
    ReportDurations(kFirstResponse, counts, first->ns.load(std::memory_order_relaxed), sink);
  }
}

void ReportTarget(const Latencies& latencies, uint64_t now_ns, MetricSink* sink) {
  const Latencies::Target& target = *latencies.target();
  const double micros = target.micros.Read(now_ns, {0.99})[0];
  const double target_micros = static_cast<double>(latencies.options().target_ns) / 1000;
  // Autoscalers cannot compute with NaN.
  sink->Report(kPressure, std::isnan(micros) ? 0.0 : micros / target_micros);
  sink->Report(kMissed, target.missed.load(std::memory_order_relaxed));
}

void ReportSummaries(const Latencies& latencies, const StatisticsSnapshot& statistics,
                     uint64_t now_ns, MetricSink* sink) {
  const std::vector<double>& quantiles = latencies.options().quantiles;
  for (size_t i = 0; i < kSummarized; ++i) {
    const SlidingQuantiles* const summary = latencies.summary(static_cast<Summarized>(i));
    if (summary == nullptr) continue;
    const std::vector<double> values = summary->Read(now_ns, quantiles);
    const StatDuration& total = statistics.*kSummaries[i].total;
    sink->Report(
        kSummaries[i].family,
        SummaryNumbers{total.count, static_cast<double>(total.ns / 1000), quantiles, values});
  }
}

}  // namespace

void ReportLatencies(const Latencies& latencies, const StatisticsSnapshot& statistics,
                     uint64_t now_ns, MetricSink* sink) {
  if (latencies.has_histograms()) ReportHistograms(latencies, statistics, sink);
  if (const ValueHistogram* const first = latencies.first_responses_ms()) {
    const std::vector<uint64_t> counts = first->counts();
    sink->Report(kFirstResponseMillis,
                 HistogramNumbers{first->bounds(), counts, static_cast<double>(first->sum())});
  }
  if (latencies.target() != nullptr) ReportTarget(latencies, now_ns, sink);
  ReportSummaries(latencies, statistics, now_ns, sink);
}

}  // namespace nereid
